//! A TCP server that ends in order: it stops accepting, closes its pool, waits until every buffer is
//! back, and reports.
//!
//! ```text
//! cargo run --release --example shutdown
//! cargo run --release --example shutdown -- --silent 3    # clients that hold on
//! ```
//!
//! What it shows: `close` and `wait_idle_async` are a shutdown. From `close` on nobody acquires, and
//! a task that waits for a buffer gets an error; `wait_idle_async` is over when the last one comes back,
//! wherever that is, without polling. If the time is up first, `in_use` says how many are out. And
//! `?` turns an error of the pool into an `io::Error`.
//!
//! The clients are in the same process: each says something, and is told the same. Silent ones
//! connect, are given a buffer, say nothing, and stay.
//!
//! Exit codes: 0, all buffers came back; 1, some did not, or the network failed; 2, an option has to change.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pool_core::FnPool;
use pool_examples::cli::{Failure, PoolArgs, finish};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Serves clients with pooled buffers, and ends in order.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 all buffers came back; 1 some did not, or the network failed; 2 an \
                  option has to change."
)]
struct Args {
    /// Clients that talk and leave
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u16).range(0..=1_000))]
    clients: u16,

    /// Clients that say nothing and stay
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u16).range(0..=100))]
    silent: u16,

    /// Milliseconds to wait until all buffers are back
    #[arg(long, value_name = "MS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    patience: u64,

    #[command(flatten)]
    pool: PoolArgs,
}

type Buffers = FnPool<Vec<u8>>;

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let builder = Buffers::builder_fn(|| Vec::with_capacity(1024), Vec::clear);
    // As many as there may be silent clients, and some for the others, which wait for them.
    let buffers = (args.pool.choose(builder).capacity(128).build())
        .map_err(|error| Failure::Input(error.to_string()))?;
    let failed = |error: io::Error| Failure::Run(format!("the network failed: {error}"));
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let (served, in_use) = runtime
        .block_on(serve_and_end(args, &buffers))
        .map_err(failed)?;
    if in_use > 0 {
        return Err(Failure::Run(format!(
            "{in_use} of the buffers did not come back within {} ms, after {served} clients were served; a client \
             that stays holds one",
            args.patience
        )));
    }
    let made = buffers.stats().created;
    Ok(format!(
        "clients served: {served}\nbuffers made: {made}\nbuffers out at the end: {in_use}\n"
    ))
}

/// Serves all clients, then ends. Gives how many were served, and how many buffers are still out.
async fn serve_and_end(args: &Args, buffers: &Buffers) -> io::Result<(usize, usize)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let accepting = tokio::spawn(accept(listener, buffers.clone()));

    let mut silent = Vec::new();
    for _ in 0..args.silent {
        let mut client = TcpStream::connect(address).await?;
        // What comes back says that a buffer is held for it.
        client.write_all(b"?").await?;
        client.read_exact(&mut [0]).await?;
        silent.push(client);
    }
    let mut clients: JoinSet<_> = (0..args.clients).map(|_| talk(address)).collect();
    let mut served = 0;
    while let Some(done) = clients.join_next().await {
        done.map_err(io::Error::other)??;
        served += 1;
    }

    // The end: nobody comes any more, nobody is given a buffer any more, and all come back.
    accepting.abort();
    buffers.close();
    let all_back = timeout(
        Duration::from_millis(args.patience),
        buffers.wait_idle_async(),
    );
    let in_use = match all_back.await {
        Ok(()) => 0,
        Err(_) => buffers.in_use(),
    };
    drop(silent);
    Ok((served, in_use))
}

/// Accepts connections, and answers each in a task of its own, until it is aborted.
async fn accept(listener: TcpListener, buffers: Buffers) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, buffers.clone()));
    }
}

/// Says to a client what it says, until it leaves.
async fn answer(mut stream: TcpStream, buffers: Buffers) -> io::Result<()> {
    let mut buffer = buffers.acquire_async().await?;
    buffer.resize(1024, 0);
    loop {
        let n = stream.read(&mut buffer).await?;
        if n == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..n]).await?;
    }
}

/// A client that talks and leaves.
async fn talk(server: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    for message in [&b"bid 3379.09"[..], b"ask 3379.11"] {
        stream.write_all(message).await?;
        let mut answer = vec![0; message.len()];
        stream.read_exact(&mut answer).await?;
        if answer != message {
            return Err(io::Error::other("the server said something else"));
        }
    }
    Ok(())
}
