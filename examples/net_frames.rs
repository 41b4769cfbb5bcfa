//! A TCP server whose frames are read into pooled buffers and passed on as `bytes::Bytes`.
//!
//! ```text
//! cargo run --release --example net_frames
//! cargo run --release --example net_frames -- --serve --listen 127.0.0.1:7000
//! cargo run --release --example net_frames -- --to 127.0.0.1:7000
//! ```
//!
//! What it shows: how an object of a pool becomes a `Bytes` (`Frame`, and `Bytes::from_owner`), so
//! that code which knows nothing of the pool may keep, clone and cut it; the buffer goes back when the
//! last slice is dropped, on whatever thread. And a bound in a service: a connection waits for a
//! buffer as a task (`acquire_async`), reads nothing meanwhile, and TCP passes the pressure on to the
//! sender.
//!
//! ```text
//!            ┌───────────┐ Bytes, whole   ┌────────┐
//!  TCP ────► │ connection│ ─────────────► │ writer │ ────► TCP, the echo
//!            └──▲──────┬─┘                └──────┬─┘
//!               │      │ Bytes, a slice   ┌──────┴┐
//!             buffer   └────────────────► │ audit │
//!               │                         └──────┬┘
//!               └────────── pool ◄───────────────┘ whichever drops last
//! ```
//!
//! A frame is its length, four bytes with the highest first, and as many bytes. The server sends
//! each back as it came. A frame that is longer than `--max-frame`, ends early, or takes longer than
//! `--timeout` ends its connection, after the frames before it were answered; so does a client that
//! does not read its answers for as long. The error says which frame of whose.
//!
//! Without `--serve` or `--to` the program is both: it starts a server on the loopback, loads it with
//! `--connections` clients that check every byte that comes back, and prints what the pool made of
//! it: with every backend but heap, no more buffers than there were before the first frame.
//!
//! (`Bytes::from_owner` allocates a few words to count the slices with; the bytes themselves stay
//! where they were read to.)
//!
//! Exit codes: 0, all went well; 1, a connection failed, or the output cannot be written; 2, an
//! option has to change, such as an address that is in use.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::ops::AddAssign;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes};
use clap::Parser;
use pool_core::{Lifecycle, Pool, Pooled, Stats};
use pool_examples::cli::{self, Failure, PoolArgs, finish};
use pool_examples::report;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Reads frames from TCP into pooled buffers, sends them back, and prints what the pool made of it.
#[derive(Clone, Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 a connection failed, or the output cannot be written; \
                  2 an option has to change, such as an address that is in use."
)]
struct Args {
    /// Only serve, until Ctrl-C
    #[arg(long, conflicts_with = "to")]
    serve: bool,

    /// Only send, to a server that listens there
    #[arg(long, value_name = "ADDRESS", conflicts_with = "listen")]
    to: Option<SocketAddr>,

    /// Where to serve; with port 0 the system picks one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Clients at a time
    #[arg(long, value_name = "N", default_value_t = 8, conflicts_with = "serve",
          value_parser = clap::value_parser!(u16).range(1..=1_000))]
    connections: u16,

    /// Frames that each client sends
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "serve",
          value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,

    /// Bytes of the longest frame; the server's buffers are as large
    #[arg(long, value_name = "BYTES", default_value_t = 1_500,
          value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    max_frame: u32,

    /// Buffers of the server: frames that may be between being read and being let go at once
    #[arg(long, value_name = "N", default_value_t = 64, conflicts_with = "to",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    buffers: u32,

    /// Milliseconds that a frame, once it has begun, may take to come or to go
    #[arg(long, value_name = "MS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    timeout: u64,

    #[command(flatten)]
    pool: PoolArgs,
}

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::Run(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(async {
        match args.to {
            Some(server) => send_only(args, server).await,
            None if args.serve => serve_only(args).await,
            None => serve_and_send(args).await,
        }
    })
}

/// A server and its clients.
async fn serve_and_send(args: &Args) -> Result<String, Failure> {
    let server = Server::bind(args).await?;
    let (pool, address) = (server.pool.clone(), server.address);
    let before = pool.stats();
    let (stop, stopped) = watch::channel(false);
    let serving = tokio::spawn(server.run(stopped));
    let start = Instant::now();
    let sent = send(args, address).await?;
    let elapsed = start.elapsed();
    stop.send_replace(true);
    let served = serving.await.expect("the server does not panic");
    if served.seen != sent || served.failed > 0 {
        return Err(Failure::Run(format!(
            "the clients sent {sent:?}, but the server saw {served:?}"
        )));
    }
    Ok(seen_text(&sent, elapsed) + &served_text(&served, &before, &pool))
}

/// A server until Ctrl-C.
async fn serve_only(args: &Args) -> Result<String, Failure> {
    let server = Server::bind(args).await?;
    let (pool, start) = (server.pool.clone(), Instant::now());
    let before = pool.stats();
    // Polled once before anyone is told: from then on Ctrl-C is not the end of the process.
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    let early = poll_fn(|cx| Poll::Ready(interrupt.as_mut().poll(cx))).await;
    cli::print(&format!("listening: {}\n", server.address))
        .map_err(|error| Failure::Run(format!("cannot write to standard output: {error}")))?;
    let (stop, stopped) = watch::channel(false);
    let serving = tokio::spawn(server.run(stopped));
    let interrupted = match early {
        Poll::Ready(early) => early,
        Poll::Pending => interrupt.await,
    };
    interrupted.map_err(|error| Failure::Run(format!("cannot wait for Ctrl-C: {error}")))?;
    stop.send_replace(true);
    let served = serving.await.expect("the server does not panic");
    Ok(seen_text(&served.seen, start.elapsed()) + &served_text(&served, &before, &pool))
}

/// Clients alone.
async fn send_only(args: &Args, server: SocketAddr) -> Result<String, Failure> {
    let start = Instant::now();
    let sent = send(args, server).await?;
    Ok(seen_text(&sent, start.elapsed()))
}

// ---- a buffer, from the pool to `Bytes` and back ----

/// Makes buffers with room for the longest frame, and keeps none that was made to grow.
#[derive(Clone, Copy, Debug)]
struct Buffers {
    max_frame: usize,
}

impl Lifecycle<Vec<u8>> for Buffers {
    fn create(&self) -> Vec<u8> {
        Vec::with_capacity(self.max_frame)
    }

    fn reset(&self, buffer: &mut Vec<u8>) {
        buffer.clear();
    }

    fn is_reusable(&self, buffer: &Vec<u8>) -> bool {
        buffer.capacity() == self.max_frame
    }
}

/// A buffer that was read to, on its way to be `Bytes`: all that those ask of an owner.
struct Frame(Pooled<Vec<u8>, Buffers>);

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

// ---- the server ----

/// Frames that wait in a connection for its writer.
const ECHOES: usize = 16;
/// Slices that wait for the audit.
const AUDITS: usize = 64;
/// A frame's first bytes, its number in what the clients here send; the audit sees the others.
const NUMBER: usize = 8;
/// Bytes that are read and forgotten after a bad frame, so that the answers before it arrive: a
/// connection that is closed with bytes unread is reset, and what it was sending is lost.
const LINGER: u64 = 64 * 1024 * 1024;

struct Server {
    listener: TcpListener,
    address: SocketAddr,
    pool: Pool<Vec<u8>, Buffers>,
    patience: Duration,
}

/// What a server saw.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    connections: u64,
    /// Connections that ended with an error.
    failed: u64,
    /// The sum is the audit's.
    seen: Seen,
}

/// What was read, by the server, or came back, to a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    frames: u64,
    bytes: u64,
    /// Of all bytes behind the numbers.
    sum: u64,
}

impl AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl Server {
    async fn bind(args: &Args) -> Result<Server, Failure> {
        let buffers = Buffers {
            max_frame: args.max_frame as usize,
        };
        let pool = args
            .pool
            .choose(Pool::builder_for(buffers))
            .capacity(args.buffers as usize)
            .prefill(args.buffers as usize)
            .name("buffers")
            .build()
            .map_err(|error| Failure::Input(error.to_string()))?;
        let refused = |error: io::Error| {
            let address = args.listen;
            Failure::Input(format!(
                "--listen {address}: {error}; give another address, or port 0 for any that is free"
            ))
        };
        let listener = TcpListener::bind(args.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Server {
            listener,
            address,
            pool,
            patience: Duration::from_millis(args.timeout),
        })
    }

    /// Serves until it is told to stop, and then to the end of the frames that have begun.
    async fn run(self, stopped: watch::Receiver<bool>) -> Served {
        let mut stop = stopped.clone();
        let server = Arc::new(self);
        let (bodies, to_audit) = mpsc::channel(AUDITS);
        let auditing = tokio::spawn(audit(to_audit));
        let mut connections = JoinSet::new();
        let mut served = Served::default();
        loop {
            tokio::select! {
                () = told(&mut stop) => break,
                Some(done) = connections.join_next() => served.add(done.expect("no panic")),
                accepted = server.listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let connection = Connection {
                            server: server.clone(),
                            peer,
                            bodies: bodies.clone(),
                            stopped: stopped.clone(),
                        };
                        connections.spawn(connection.run(stream));
                    }
                    Err(error) => {
                        // Out of descriptors, say: those who are served will give some back.
                        say(format_args!("cannot accept a connection: {error}"));
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        while let Some(done) = connections.join_next().await {
            served.add(done.expect("no panic"));
        }
        drop(bodies);
        served.seen.sum = auditing.await.expect("no panic");
        served
    }
}

/// Waits to be told to stop.
async fn told(stop: &mut watch::Receiver<bool>) {
    // One who could tell is gone: that is to stop, too.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Says what went wrong with one client, while others are served.
fn say(message: fmt::Arguments<'_>) {
    // If nobody listens, the counts at the end still say that something did.
    let _ = writeln!(io::stderr(), "{message}");
}

impl Served {
    fn add(&mut self, connection: Served) {
        self.connections += connection.connections;
        self.failed += connection.failed;
        self.seen += connection.seen;
    }
}

/// Looks at what the frames hold, and lets go of it in its own time.
async fn audit(mut bodies: mpsc::Receiver<Bytes>) -> u64 {
    let mut sum = 0_u64;
    while let Some(body) = bodies.recv().await {
        sum = sum.wrapping_add(sum_of(&body));
    }
    sum
}

fn sum_of(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

/// One connection of a server.
struct Connection {
    server: Arc<Server>,
    peer: SocketAddr,
    bodies: mpsc::Sender<Bytes>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    async fn run(mut self, stream: TcpStream) -> Served {
        let mut served = Served {
            connections: 1,
            ..Served::default()
        };
        if let Err(error) = self.echo(stream, &mut served).await {
            served.failed = 1;
            let (peer, frames) = (self.peer, served.seen.frames);
            say(format_args!("{peer}: after {frames} frames: {error}"));
        }
        served
    }

    /// Reads frames and sends them back, two at a time: one comes while another goes.
    async fn echo(&mut self, mut stream: TcpStream, served: &mut Served) -> Result<(), FrameError> {
        stream.set_nodelay(true)?;
        let patience = self.server.patience;
        let (reader, writer) = stream.split();
        let mut reader = BufReader::new(reader);
        let (echoes, queue) = mpsc::channel(ECHOES);
        // A bad frame ends the reading alone, so that those before it are answered; an answer that
        // cannot be sent ends both.
        let (read, ()) = tokio::try_join!(
            async { Ok(self.read(&mut reader, echoes, served).await) },
            answer(writer, queue, patience),
        )?;
        if read.is_err() {
            let mut rest = reader.take(LINGER);
            let _ = timeout(patience, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
        }
        read
    }

    /// Reads frames until the client ends or the server is stopped, and passes each on.
    async fn read(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        echoes: mpsc::Sender<Bytes>,
        served: &mut Served,
    ) -> Result<(), FrameError> {
        let Server { pool, patience, .. } = &*self.server;
        loop {
            let first = tokio::select! {
                () = told(&mut self.stopped) => return Ok(()),
                first = reader.read_u8() => first,
            };
            let first = match first {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                first => first?,
            };
            let len = read_length(reader, first, *patience).await?;
            let most = pool.lifecycle().max_frame;
            if len > most {
                return Err(FrameError::TooLong { len, most });
            }
            // Only now, so that a quiet connection holds no buffer.
            let mut buffer = pool.acquire_async().await.expect("the pool is not closed");
            read_rest(reader, &mut (&mut *buffer).limit(len), 0, *patience).await?;
            served.seen.frames += 1;
            served.seen.bytes += len as u64;

            let frame = Bytes::from_owner(Frame(buffer));
            let body = frame.slice(len.min(NUMBER)..);
            // The audit is there until the last connection is not.
            let _ = self.bodies.send(body).await;
            if echoes.send(frame).await.is_err() {
                return Ok(()); // the writer has failed, and says why
            }
        }
    }
}

/// The length of a frame that begins with `first`.
async fn read_length(
    reader: &mut (impl AsyncRead + Unpin),
    first: u8,
    patience: Duration,
) -> Result<usize, FrameError> {
    let mut length = [first, 0, 0, 0];
    read_rest(reader, &mut &mut length[1..], 1, patience).await?;
    Ok(u32::from_be_bytes(length) as usize)
}

/// Fills `room`, the rest of what `got` bytes are there of.
async fn read_rest(
    reader: &mut (impl AsyncRead + Unpin),
    room: &mut impl BufMut,
    got: usize,
    patience: Duration,
) -> Result<(), FrameError> {
    let of = got + room.remaining_mut();
    let read = timeout(patience, async {
        while room.has_remaining_mut() && reader.read_buf(room).await? > 0 {}
        Ok::<_, io::Error>(())
    });
    let read = read.await;
    let got = of - room.remaining_mut();
    read.map_err(|_| FrameError::Stalled { got, of, patience })??;
    if got < of {
        return Err(FrameError::CutOff { got, of });
    }
    Ok(())
}

/// Sends frames as they come, and ends the connection's sending when no more do.
async fn answer(
    writer: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Bytes>,
    patience: Duration,
) -> Result<(), FrameError> {
    let mut writer = BufWriter::new(writer);
    while let Some(frame) = frames.recv().await {
        let write = timeout(patience, async {
            write_frame(&mut writer, &frame).await?;
            match frames.is_empty() {
                true => writer.flush().await,
                false => Ok(()),
            }
        });
        write.await.map_err(|_| FrameError::Unread { patience })??;
    }
    let end = timeout(patience, writer.shutdown()).await;
    end.map_err(|_| FrameError::Unread { patience })??;
    Ok(())
}

async fn write_frame(writer: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> io::Result<()> {
    let len = u32::try_from(frame.len()).expect("no longer than --max-frame");
    writer.write_u32(len).await?;
    writer.write_all(frame).await
}

/// What ends a connection before its client does.
#[derive(Debug)]
enum FrameError {
    TooLong {
        len: usize,
        most: usize,
    },
    /// The connection ended within a frame, or within its length.
    CutOff {
        got: usize,
        of: usize,
    },
    Stalled {
        got: usize,
        of: usize,
        patience: Duration,
    },
    /// The client does not read what it is sent.
    Unread {
        patience: Duration,
    },
    Io(io::Error),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::TooLong { len, most } => write!(
                f,
                "a frame of {len} bytes, where --max-frame is {most}; send shorter ones or raise it"
            ),
            FrameError::CutOff { got, of } => {
                write!(
                    f,
                    "the connection ended after {got} of a frame's {of} bytes"
                )
            }
            FrameError::Stalled { got, of, patience } => write!(
                f,
                "{got} of a frame's {of} bytes came in {patience:?}; send whole frames or raise \
                 --timeout"
            ),
            FrameError::Unread { patience } => write!(
                f,
                "answers were not read for {patience:?}; read them or raise --timeout"
            ),
            FrameError::Io(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> FrameError {
        FrameError::Io(error)
    }
}

// ---- the clients ----

/// Runs as many clients as asked for.
async fn send(args: &Args, server: SocketAddr) -> Result<Seen, Failure> {
    let mut clients = JoinSet::new();
    for number in 0..args.connections {
        let args = args.clone();
        clients.spawn(async move {
            let stream = TcpStream::connect(server).await.map_err(|error| {
                Failure::Input(format!(
                    "cannot connect to {server}: {error}; start a server there with --serve \
                     --listen {server}"
                ))
            })?;
            let sent = client(&args, stream, number.into()).await;
            sent.map_err(|error| Failure::Run(format!("client {number} of {server}: {error}")))
        });
    }
    let mut all = Seen::default();
    while let Some(done) = clients.join_next().await {
        let sent = done.expect("a client does not panic")?;
        all += sent;
    }
    Ok(all)
}

/// Sends frames, and compares what comes back meanwhile.
async fn client(args: &Args, mut stream: TcpStream, number: u64) -> io::Result<Seen> {
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.split();
    let (mut reader, mut writer) = (BufReader::new(reader), BufWriter::new(writer));
    let write = async {
        let mut payload = Vec::new();
        for frame in 0..args.frames {
            fill(&mut payload, number, frame, args.max_frame);
            write_frame(&mut writer, &payload).await?;
        }
        writer.shutdown().await
    };
    let read = async {
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut sent = Seen::default();
        for frame in 0..args.frames {
            fill(&mut expected, number, frame, args.max_frame);
            let end = |error: io::Error| match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    io::Error::other(format!("the server ended before frame {frame} came back"))
                }
                _ => error,
            };
            let len = reader.read_u32().await.map_err(end)? as usize;
            if len == expected.len() {
                found.resize(len, 0);
                reader.read_exact(&mut found).await.map_err(end)?;
            }
            if len != expected.len() || found != expected {
                let mistake = format!("frame {frame} came back changed");
                return Err(io::Error::other(mistake));
            }
            sent.frames += 1;
            sent.bytes += len as u64;
            let body = &expected[len.min(NUMBER)..];
            sent.sum = sent.sum.wrapping_add(sum_of(body));
        }
        Ok(sent)
    };
    let ((), sent) = tokio::try_join!(write, read)?;
    Ok(sent)
}

/// The payload of a frame, of any length up to the longest: its number, and bytes that follow from it.
fn fill(payload: &mut Vec<u8>, client: u64, frame: u32, max_frame: u32) {
    let number = client << 32 | u64::from(frame);
    // Spreads the numbers over the lengths; any odd number with many ones does.
    let len = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (u64::from(max_frame) + 1);
    payload.clear();
    payload.extend_from_slice(&number.to_be_bytes());
    payload.extend((0..len).map(|i| (number + i) as u8));
    payload.truncate(len as usize);
}

// ---- what is printed ----

fn seen_text(seen: &Seen, elapsed: Duration) -> String {
    let Seen { frames, bytes, .. } = seen;
    let rate = *frames as f64 / elapsed.as_secs_f64().max(1e-9);
    format!("frames: {frames}\nbytes: {bytes}\nframes_per_second: {rate:.0}\n")
}

/// What the server saw, and what its pool made of it since `before`.
fn served_text(served: &Served, before: &Stats, pool: &Pool<Vec<u8>, Buffers>) -> String {
    let after = pool.stats();
    let mut out = String::new();
    for (key, value) in [
        ("connections", served.connections),
        ("connections_failed", served.failed),
        ("buffers_before", before.created as u64),
        ("growth", (after.created - before.created) as u64),
    ] {
        out += &format!("{key}: {value}\n");
    }
    let mut counts = Vec::new();
    report::pool(&mut counts, "buffers", &after).expect("a Vec takes whatever is written");
    out + &String::from_utf8_lossy(&counts)
}
