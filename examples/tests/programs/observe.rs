//! The service that is watched, scraped over a real connection.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::thread;
use std::time::Duration;

use crate::{Program, assert_fails, assert_succeeds, end_of, stderr, stdout};

/// A service that ends by itself after some scrapes.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(args: &[&str]) -> Service {
        let mut child = Program("observe").start(&[&["--listen", "127.0.0.1:0"], args].concat());
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.as_mut().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening: http://")
            .and_then(|line| line.strip_suffix("/metrics"));
        let Some(address) = address.map(str::to_owned) else {
            panic!("{line}{}", stderr(&end_of(child)));
        };
        Service { child, address }
    }

    /// Sends a request; gives the answer's head and body.
    fn ask(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        (head.to_owned(), body.to_owned())
    }

    /// The samples, by name and labels.
    fn scrape(&self) -> BTreeMap<String, u64> {
        let (head, body) = self.ask("GET /metrics");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(body.ends_with("# EOF\n"), "{body}");
        body.lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let (name, value) = line.rsplit_once(' ').expect("a name and a value");
                (name.to_owned(), value.parse().expect("a whole number"))
            })
            .collect()
    }

    fn wait(self) -> std::process::Output {
        end_of(self.child)
    }
}

#[test]
fn the_stats_of_both_pools_are_served() {
    let mut left = 200;
    let service = Service::start(&["--scrapes", "200", "--threads", "3"]);
    let (head, body) = service.ask("GET /metrics");
    left -= 1;
    let head = head.to_ascii_lowercase();
    assert!(head.contains("content-type: application/openmetrics-text"));
    for line in [
        "# HELP pool_objects_in_use Objects out in handles",
        "# TYPE pool_objects_in_use gauge",
        "# TYPE pool_creations counter",
        "# TYPE pool_wait_microseconds counter",
        "# TYPE pool_saturations counter",
        "# TYPE pool_waiting gauge",
        "# TYPE pool_objects_peak gauge",
        r#"pool_capacity{pool="orders",backend="batched"} 1000"#,
    ] {
        assert!(body.lines().any(|found| found == line), "{line}\n{body}");
    }
    assert!(!body.contains(r#"pool_capacity{pool="buffers""#));

    // The service is there before its threads have made anything.
    let first = loop {
        let samples = service.scrape();
        left -= 1;
        let made =
            |(name, count): (&String, &u64)| name.starts_with("pool_creations_total") && *count > 0;
        if samples.iter().filter(|&sample| made(sample)).count() == 2 {
            break samples;
        }
        assert!(left > 1, "nothing was made: {samples:?}");
        thread::sleep(Duration::from_millis(10));
    };
    let second = service.scrape();
    left -= 1;
    for pool in ["orders", "buffers"] {
        let name = |metric: &str| format!("{metric}{{pool=\"{pool}\",backend=\"batched\"}}");
        for samples in [&first, &second] {
            let sample = |metric| samples[&name(metric)];
            assert!(sample("pool_creations_total") >= 1, "{pool}");
            assert!(sample("pool_objects_in_use") <= 3, "{pool}");
            assert!(sample("pool_objects_cached") <= sample("pool_objects_idle"));
            assert!(sample("pool_objects_peak") >= sample("pool_objects_in_use"));
            // There is more room than threads.
            for metric in ["pool_waiting", "pool_waits_total", "pool_saturations_total"] {
                assert_eq!(sample(metric), 0, "{pool}");
            }
            assert_eq!(sample("pool_wait_microseconds_total"), 0, "{pool}");
        }
        for metric in first.keys().filter(|metric| metric.contains("_total{")) {
            assert!(second[metric] >= first[metric], "{metric} went down");
        }
    }
    for _ in 0..left {
        service.scrape();
    }
    let output = service.wait();
    assert_succeeds(&output);
    assert_eq!(stdout(&output), "orders_in_use: 0\n");
}

#[test]
fn what_is_not_a_scrape_is_told_so_and_not_counted() {
    let service = Service::start(&["--scrapes", "1", "--threads", "0", "--backend", "mutex"]);
    let (head, body) = service.ask("GET /");
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    assert!(body.contains("/metrics"), "{body}");
    let (head, _) = service.ask("DELETE /metrics");
    assert!(head.starts_with("HTTP/1.1 405 "), "{head}");
    assert!(head.to_ascii_lowercase().contains("allow: get"), "{head}");
    // A client that says nothing and leaves, and one that speaks another language.
    drop(TcpStream::connect(&service.address).unwrap());
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.write_all(b"\x00\xff\r\n\r\n").unwrap();
    drop(stream);

    let samples = service.scrape();
    assert_eq!(
        samples[r#"pool_creations_total{pool="orders",backend="mutex"}"#],
        0
    );
    assert_succeeds(&service.wait());
}

#[test]
fn an_address_that_is_in_use_is_an_error_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = Program("observe").run(&["--listen", &address]);
    assert_fails(&output, 2, &["--listen", &address, "give another address"]);
    let output = Program("observe").run(&["--listen", "nowhere"]);
    assert_fails(&output, 2, &["--listen", "nowhere"]);
    let output = Program("observe").run(&["--scrapes", "0"]);
    assert_fails(&output, 2, &["--scrapes"]);
}
