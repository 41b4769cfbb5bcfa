//! A pool of TCP connections: opened when they are needed, looked at before they are used, given up
//! when they are old or broken, and all accounted for at the end.
//!
//! ```text
//! cargo run --release --example connections
//! cargo run --release --example connections -- --requests 5000 --max-age 20
//! ```
//!
//! What it shows: an [`Entry`] is an idle connection or the place for a new one. To open one takes
//! time and may fail, so the caller does it; if it fails, or its task is cancelled, the place goes
//! to the next that waits. A connection that is found too old or closed by the other side is
//! discarded, and the pool asked again. A request that fails discards its connection: what half an
//! answer may still come on is not used again.
//!
//! The server is in the same process. Now and then it refuses a connection, closes one before or
//! after an answer, or is slow to answer. A request that fails for that is tried again.
//!
//! Exit codes: 0, every request was answered and every connection accounted for; 1, one was not, or
//! the network failed; 2, an option has to change.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use pool_core::{Entry, Pool, Pooled, WithoutCreate};
use pool_examples::cli::{Failure, PoolArgs, finish};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Sends requests over pooled connections to a server with faults.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 every request was answered and every connection accounted for; 1 one \
                  was not, or the network failed; 2 an option has to change."
)]
struct Args {
    /// Requests in all
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    requests: u32,

    /// Tasks that send them
    #[arg(long, value_name = "N", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..=1_000))]
    tasks: u16,

    /// Connections at most
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u16).range(1..=1_000))]
    connections: u16,

    /// Milliseconds after which a connection is not used again
    #[arg(long, value_name = "MS", default_value_t = 200,
          value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    max_age: u64,

    /// Milliseconds that an answer may take
    #[arg(long, value_name = "MS", default_value_t = 50,
          value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    patience: u64,

    #[command(flatten)]
    pool: PoolArgs,
}

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::Run(format!("the network failed: {error}"));
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    runtime.block_on(async {
        let listener = (TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await).map_err(failed)?;
        let server = listener.local_addr().map_err(failed)?;
        tokio::spawn(accept(listener, Duration::from_millis(2 * args.patience)));
        let client = Arc::new(Client::new(args, server)?);
        let mut tasks: JoinSet<_> = (0..args.tasks)
            .map(|_| send_all(client.clone(), args.requests as usize))
            .collect();
        while let Some(done) = tasks.join_next().await {
            let sent = done.map_err(io::Error::other).map_err(failed)?;
            sent.map_err(failed)?;
        }
        client.end().await
    })
}

/// A connection, which counts itself while it is open.
struct Connection {
    stream: TcpStream,
    since: Instant,
    open: Arc<AtomicUsize>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    /// Whether nothing has come, not even the end: the other side waits for a request.
    fn is_quiet(&self) -> bool {
        let read = self.stream.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    async fn ask(&mut self, request: [u8; 4]) -> io::Result<()> {
        self.stream.write_all(&request).await?;
        let mut answer = [0; 4];
        self.stream.read_exact(&mut answer).await?;
        match answer == request {
            true => Ok(()),
            false => Err(io::Error::other("an answer to another request")),
        }
    }
}

type Reset = WithoutCreate<fn(&mut Connection)>;

/// The pool, what it needs, and what became of its connections.
struct Client {
    pool: Pool<Connection, Reset>,
    server: SocketAddr,
    max_age: Duration,
    patience: Duration,
    /// Connections that are open now, by their own count.
    open: Arc<AtomicUsize>,
    sent: AtomicUsize,
    answered: AtomicUsize,
    opened: AtomicUsize,
    refused: AtomicUsize,
    aged: AtomicUsize,
    closed: AtomicUsize,
    broken: AtomicUsize,
}

impl Client {
    fn new(args: &Args, server: SocketAddr) -> Result<Self, Failure> {
        // Nothing to put back: a connection on which a request failed does not come back.
        let reset: fn(&mut Connection) = |_| ();
        let builder = Pool::<Connection, _>::builder_without_create(reset);
        let builder = args.pool.choose(builder);
        let pool = builder.capacity(args.connections.into()).build();
        let count = || AtomicUsize::new(0);
        Ok(Client {
            pool: pool.map_err(|error| Failure::Input(error.to_string()))?,
            server,
            max_age: Duration::from_millis(args.max_age),
            patience: Duration::from_millis(args.patience),
            open: Arc::default(),
            sent: count(),
            answered: count(),
            opened: count(),
            refused: count(),
            aged: count(),
            closed: count(),
            broken: count(),
        })
    }

    /// A connection that can be used: an idle one that is neither old nor closed, or a new one.
    async fn connection(&self) -> io::Result<Pooled<Connection, Reset>> {
        loop {
            let connection = match self.pool.entry_async().await? {
                Entry::Vacant(vacant) => return Ok(vacant.insert(self.open().await?)),
                Entry::Idle(connection) => connection,
            };
            let why_not = if connection.since.elapsed() > self.max_age {
                &self.aged
            } else if !connection.is_quiet() {
                &self.closed
            } else {
                return Ok(connection);
            };
            count(why_not);
            Pooled::discard(connection);
        }
    }

    /// Opens a connection and waits for the greeting.
    async fn open(&self) -> io::Result<Connection> {
        let mut stream = TcpStream::connect(self.server).await?;
        if let Err(error) = stream.read_exact(&mut [0]).await {
            count(&self.refused);
            return Err(error);
        }
        count(&self.opened);
        count(&self.open);
        Ok(Connection {
            stream,
            since: Instant::now(),
            open: self.open.clone(),
        })
    }

    /// Sends a request until it is answered.
    async fn ask(&self, number: u32) -> io::Result<()> {
        for _ in 0..100 {
            let Ok(mut connection) = self.connection().await else {
                continue; // refused; the place is free again
            };
            if let Ok(Ok(())) = timeout(self.patience, connection.ask(number.to_be_bytes())).await {
                count(&self.answered);
                return Ok(());
            }
            count(&self.broken);
            Pooled::discard(connection);
        }
        Err(io::Error::other("a request failed a hundred times"))
    }

    /// Closes the pool, and says what became of all connections.
    async fn end(&self) -> Result<String, Failure> {
        let idle = self.pool.idle();
        self.pool.close();
        self.pool.wait_idle_async().await;
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let (opened, open) = (of(&self.opened), of(&self.open));
        let gone = of(&self.aged) + of(&self.closed) + of(&self.broken) + idle;
        // A pool that keeps none closes each after its request.
        let keeps = self.pool.backend() != pool_core::Backend::Heap;
        if open > 0 || keeps && opened != gone {
            return Err(Failure::Run(format!(
                "{opened} connections were opened, {gone} accounted for, {open} are open still"
            )));
        }
        Ok(format!(
            "requests answered: {}\nconnections opened: {opened}\nrefused by the server: {}\ntoo old: {}\n\
             closed by the server while idle: {}\ngiven up after a failed request: {}\nclosed at the end: {idle}\n\
             open still: {open}\n",
            of(&self.answered),
            of(&self.refused),
            of(&self.aged),
            of(&self.closed),
            of(&self.broken),
        ))
    }
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Sends requests until `requests` were sent, by this task and the others.
async fn send_all(client: Arc<Client>, requests: usize) -> io::Result<()> {
    loop {
        let number = client.sent.fetch_add(1, Ordering::Relaxed);
        if number >= requests {
            return Ok(());
        }
        client.ask(number as u32).await?;
    }
}

/// The server. Each seventh connection is refused.
async fn accept(listener: TcpListener, slow: Duration) {
    let requests = Arc::new(AtomicUsize::new(0));
    let mut connections = 0;
    while let Ok((stream, _)) = listener.accept().await {
        connections += 1;
        if connections % 7 != 0 {
            tokio::spawn(answer(stream, requests.clone(), slow));
        }
    }
}

/// Answers with what was asked, but for some requests.
async fn answer(
    mut stream: TcpStream,
    requests: Arc<AtomicUsize>,
    slow: Duration,
) -> io::Result<()> {
    stream.write_all(b"!").await?;
    loop {
        let mut request = [0; 4];
        stream.read_exact(&mut request).await?;
        let number = requests.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(43) {
            return Ok(()); // closed without an answer
        }
        if number.is_multiple_of(61) {
            sleep(slow).await;
        }
        stream.write_all(&request).await?;
        if number.is_multiple_of(37) {
            return Ok(()); // closed after it
        }
    }
}
