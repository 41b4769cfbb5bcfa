//! Frames over TCP: a load without growth, and clients that do it wrong against a server that goes
//! on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Output};

#[cfg(unix)]
use std::{net::Shutdown, process::Command, thread, time::Duration};

use crate::{
    Program, assert_fails, assert_leaves_quietly, assert_succeeds, end_of, number, stderr,
};

fn net_frames(args: &[&str]) -> Output {
    Program("net_frames").run(args)
}

const LOAD: [&str; 4] = ["--connections", "6", "--frames", "500"];

#[test]
fn a_load_makes_no_buffer_beyond_the_first() {
    for backend in ["mutex", "queue", "batched"] {
        // Fewer buffers than connections: some wait for others.
        for buffers in ["1", "4", "64"] {
            let args = ["--buffers", buffers, "--backend", backend];
            let output = net_frames(&[&LOAD[..], &args].concat());
            assert_succeeds(&output);
            assert_eq!(number(&output, "frames"), 3_000, "{args:?}");
            assert_eq!(number(&output, "connections"), 6);
            assert_eq!(number(&output, "growth"), 0, "{args:?}");
            let buffers: usize = buffers.parse().unwrap();
            for (count, expected) in [
                ("created", buffers),
                ("idle", buffers),
                ("in_use", 0),
                // Nor did any of them grow: one that does is not reusable.
                ("discarded", 0),
                ("destroyed", 0),
            ] {
                let found = number(&output, &format!("buffers_{count}"));
                assert_eq!(found, expected, "{count}: {args:?}");
            }
        }
    }
    // The control keeps none: a buffer for each frame.
    let output = net_frames(&[&LOAD[..], &["--backend", "heap"]].concat());
    assert_succeeds(&output);
    assert_eq!(number(&output, "growth"), 3_000);
}

#[test]
fn frames_of_any_size_come_back() {
    for max_frame in ["1", "7", "9", "100000"] {
        let args = ["--frames", "100", "--max-frame", max_frame];
        let output = net_frames(&args);
        assert_succeeds(&output);
        assert_eq!(number(&output, "frames"), 800);
        assert_eq!(number(&output, "buffers_discarded"), 0);
    }
}

/// A program that only serves.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(args: &[&str]) -> Server {
        let mut child = Program("net_frames").start(&[&["--serve"], args].concat());
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.as_mut().unwrap());
        out.read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening: ").map(str::to_owned) else {
            panic!("{line}{}", stderr(&end_of(child)));
        };
        Server { child, address }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Ends it as Ctrl-C does.
    #[cfg(unix)]
    fn interrupt(self) -> Output {
        let kill = format!("kill -INT {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
        end_of(self.child)
    }
}

fn frame(payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32).to_be_bytes(), payload].concat()
}

/// Sends good frames, then `bad`, then ends its sending if `ends`; gives all that came back.
#[cfg(unix)]
fn send_bad(server: &Server, good: &[u8], bad: &[u8], ends: bool) -> Vec<u8> {
    let mut stream = server.connect();
    stream.write_all(good).unwrap();
    stream.write_all(bad).unwrap();
    if ends {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).unwrap();
    answers
}

#[cfg(unix)]
#[test]
fn a_bad_frame_ends_its_connection_and_nothing_is_lost() {
    let args = ["--max-frame", "100", "--buffers", "2", "--timeout", "300"];
    for backend in ["heap", "mutex", "queue", "batched"] {
        let server = Server::start(&[&args[..], &["--backend", backend]].concat());
        let mut good = Vec::new();
        for n in 0..50 {
            good.extend(frame(&vec![n; usize::from(n) * 2]));
        }
        // Not even the answers to what came before it, though much is left unread.
        let too_long = [&101_u32.to_be_bytes(), &[1; 50_000][..]].concat();
        for (bad, ends, _) in BAD {
            assert_eq!(send_bad(&server, &good, bad, ends), good, "{bad:?}");
        }
        assert_eq!(send_bad(&server, &good, &too_long, true), good);
        // Others are served meanwhile and after.
        assert_eq!(send_bad(&server, &good, b"", true), good);

        let output = server.interrupt();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let lines: Vec<_> = stderr(&output).lines().collect();
        assert_eq!(lines.len(), BAD.len() + 1, "{lines:?}");
        let long = "a frame of 101 bytes, where --max-frame is 100; send shorter ones or raise it";
        // In any order: a client may see its end before the server says why.
        for says in BAD.iter().map(|bad| bad.2).chain([long]) {
            let said = format!(": after 50 frames: {says}");
            let found = lines.iter().filter(|line| line.ends_with(&said)).count();
            assert_eq!(found, 1, "{said} in {lines:?}");
        }
        assert!(lines.iter().all(|line| line.starts_with("127.0.0.1:")));
        assert_eq!(number(&output, "connections_failed"), BAD.len() + 1);
        assert_eq!(number(&output, "connections"), BAD.len() + 2);
        assert_eq!(number(&output, "buffers_in_use"), 0, "{backend}");
        if backend != "heap" {
            assert_eq!(number(&output, "buffers_idle"), 2, "{backend}");
            assert_eq!(number(&output, "growth"), 0, "{backend}");
        }
    }
}

// Closed with bytes unread, the connection would be reset, and answers on their way with it.
#[cfg(unix)]
#[test]
fn answers_arrive_though_much_is_left_unread_behind_a_bad_frame() {
    let args = ["--max-frame", "60000", "--timeout", "5000"];
    let server = Server::start(&args);
    let good = frame(&[7; 60_000]).repeat(10);
    let mut stream = server.connect();
    stream.write_all(&good).unwrap();
    stream.write_all(&60_001_u32.to_be_bytes()).unwrap();
    stream.write_all(&[1; 100_000]).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    // Until the server has said all it has to say, which only it knows.
    thread::sleep(Duration::from_millis(200));
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).unwrap();
    assert_eq!(answers.len(), good.len());
    assert!(answers == good);
    let output = server.interrupt();
    assert_eq!(number(&output, "connections_failed"), 1);
}

/// What follows good frames, whether the client ends there, and what is said of it.
#[cfg(unix)]
const BAD: [(&[u8], bool, &str); 6] = [
    (
        b"\0",
        true,
        "the connection ended after 1 of a frame's 4 bytes",
    ),
    (
        b"\0\0\0",
        true,
        "the connection ended after 3 of a frame's 4 bytes",
    ),
    (
        b"\0\0\0\x05abc",
        true,
        "the connection ended after 3 of a frame's 5 bytes",
    ),
    (
        b"\0\0",
        false,
        "2 of a frame's 4 bytes came in 300ms; send whole frames or raise --timeout",
    ),
    (
        b"\0\0\0\x05abc",
        false,
        "3 of a frame's 5 bytes came in 300ms; send whole frames or raise --timeout",
    ),
    (
        b"GET / HTTP/1.1\r\n\r\n",
        true,
        "a frame of 1195725856 bytes, where --max-frame is 100; send shorter ones or raise it",
    ),
];

// It would keep the buffers of its answers from everyone else.
#[cfg(unix)]
#[test]
fn a_client_that_does_not_read_its_answers_is_let_go() {
    let args = ["--max-frame", "60000", "--buffers", "4", "--timeout", "300"];
    let server = Server::start(&args);
    let payload = frame(&[7; 60_000]);
    let mut deaf = server.connect();
    // Until the server has enough of it.
    while deaf.write_all(&payload).is_ok() {}
    let mut stream = server.connect();
    stream.write_all(&payload).unwrap();
    let mut answer = vec![0; payload.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, payload);
    drop(stream);
    let output = server.interrupt();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).contains("answers were not read for 300ms"),
        "{}",
        stderr(&output)
    );
    assert_eq!(number(&output, "buffers_in_use"), 0);
    assert_eq!(number(&output, "buffers_idle"), 4);
}

#[cfg(unix)]
#[test]
fn a_server_that_is_stopped_lets_quiet_clients_go() {
    let server = Server::start(&[]);
    let mut quiet = server.connect();
    quiet.write_all(&frame(b"hello")).unwrap();
    let mut answer = [0; 9];
    quiet.read_exact(&mut answer).unwrap();
    let waits = thread::spawn(move || {
        let mut rest = Vec::new();
        quiet.read_to_end(&mut rest).map(|_| rest)
    });
    let output = server.interrupt();
    assert_succeeds(&output);
    assert_eq!(number(&output, "frames"), 1);
    assert_eq!(number(&output, "buffers_in_use"), 0);
    assert_eq!(waits.join().unwrap().unwrap(), b"");
}

#[cfg(unix)]
#[test]
fn clients_may_run_elsewhere() {
    let server = Server::start(&["--buffers", "3"]);
    let output = net_frames(&[&["--to", &server.address], &LOAD[..]].concat());
    assert_succeeds(&output);
    assert_eq!(number(&output, "frames"), 3_000);
    // Longer frames than that server takes.
    let args = ["--to", &server.address, "--max-frame", "9000"];
    assert_fails(&net_frames(&args), 1, &["client ", &server.address]);
    let output = server.interrupt();
    assert_eq!(number(&output, "growth"), 0);
    assert_eq!(number(&output, "buffers_in_use"), 0);
}

#[test]
fn an_address_in_use_and_one_where_nobody_listens_are_errors_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = net_frames(&["--listen", &address]);
    assert_fails(&output, 2, &["--listen", &address, "give another address"]);
    drop(taken);
    let output = net_frames(&["--to", &address]);
    assert_fails(&output, 2, &["cannot connect to", &address, "--serve"]);
}

#[test]
fn a_bad_choice_is_an_error() {
    for (args, says) in [
        (&["--max-frame", "0"][..], &["--max-frame"][..]),
        (&["--max-frame", "16777217"], &["--max-frame"]),
        (&["--buffers", "0"], &["--buffers"]),
        (&["--serve", "--to", "127.0.0.1:1"], &["--serve", "--to"]),
        (&["--serve", "--frames", "1"], &["--serve", "--frames"]),
        (&["--to", "here"], &["--to", "here"]),
        (
            &["--backend", "mutex", "--batch-size", "2"],
            &["batch size 2", "mutex"],
        ),
    ] {
        assert_fails(&net_frames(args), 2, says);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    assert_leaves_quietly(Program("net_frames"), &["--frames", "10"]);
}
