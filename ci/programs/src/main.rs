//! `programs FILE THREADS OUT`: compresses a file with zopfli on some threads, a part each, writes what came out
//! and prints the most bytes that were allocated at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, error, fs, thread};

use zopfli::{Format, Options};

/// The system's allocator, and how much of it is in use.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: by contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: by contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<(), Box<dyn error::Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [file, threads, out] = arguments.as_slice() else {
        return Err("usage: programs FILE THREADS OUT".into());
    };
    let text = fs::read(file)?;
    let part = text.len().div_ceil(threads.parse()?);
    let compressed = thread::scope(|scope| {
        let parts: Vec<_> = text
            .chunks(part)
            .map(|part| scope.spawn(move || compress(part)))
            .collect();
        let joined = parts.into_iter().map(|part| part.join().expect("no panic"));
        joined.collect::<Result<Vec<_>, _>>()
    })?;
    fs::write(out, compressed.concat())?;
    println!("{}", PEAK.load(Ordering::Relaxed));
    Ok(())
}

fn compress(part: &[u8]) -> Result<Vec<u8>, std::io::Error> {
    let mut out = Vec::new();
    zopfli::compress(Options::default(), Format::Gzip, part, &mut out)?;
    Ok(out)
}
