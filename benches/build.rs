//! Notes which compiler builds the programs, so that their reports can say.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown compiler".into());
    println!("cargo::rustc-env=POOL_BENCH_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
