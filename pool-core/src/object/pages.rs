//! Hints to the system about the pages under a chunk: that they are about to be used, or no longer are.
//!
//! Called by `chunks`. Hints, on which nothing depends but time and memory; where there is no such call
//! they do nothing.
#![allow(unsafe_code)] // System calls on memory.

use core::ops::Range;

/// How many bytes are brought in at a time. Fewer gain little over a fault for each page; more take no
/// less time an object, and longer at a time (16 pages of 4 KiB: some 20 µs, see benches/README.md; in a
/// large page, the first step brings in all of it).
pub(crate) const STEP: usize = 1 << 16;

/// A large page, in bytes, where pages are of 4 KiB: elsewhere just a size.
pub(crate) const LARGE: usize = 2 << 20;

/// Where memory has to start to be of large pages; anywhere, where none can be asked for.
pub(crate) const ALIGN: usize = imp::ALIGN;

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod imp {
    use super::Range;

    /// Since Linux 5.14; before, an error, and the pages come one by one as they are touched.
    const MADV_POPULATE_WRITE: libc::c_int = 23;

    pub(super) const ALIGN: usize = super::LARGE;

    fn page() -> usize {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(page).unwrap_or(usize::MAX)
    }

    pub(super) fn prefer_large(bytes: Range<*mut u8>) {
        let len = (bytes.end.addr() - bytes.start.addr()) / super::LARGE * super::LARGE;
        if len == 0 || !bytes.start.addr().is_multiple_of(ALIGN) {
            return;
        }
        // SAFETY: changes nothing in them; an error changes nothing at all.
        let given = unsafe { libc::madvise(bytes.start.cast(), len, libc::MADV_HUGEPAGE) };
        if given == 0 {
            bring_in(bytes.start..bytes.start.wrapping_add(super::STEP));
        }
    }

    pub(super) fn bring_in(bytes: Range<*mut u8>) {
        let page = page();
        // What shares a page with the bytes is mapped as they are, and keeps its contents.
        let first = bytes.start.map_addr(|start| start / page * page);
        let len = bytes.end.addr() - first.addr();
        // SAFETY: as if each page were written with what is in it; an error changes nothing.
        unsafe { libc::madvise(first.cast(), len, MADV_POPULATE_WRITE) };
    }

    pub(super) unsafe fn give_up(bytes: Range<*mut u8>) {
        let page = page();
        // Whole pages only: the rest of a page that the bytes share may be in use.
        let first = bytes.start.map_addr(|start| start.next_multiple_of(page));
        let last = bytes.end.addr() / page * page;
        if first.addr() < last {
            // SAFETY: by contract what is in them is not needed; an error changes nothing.
            unsafe { libc::madvise(first.cast(), last - first.addr(), libc::MADV_DONTNEED) };
        }
    }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(loom))))]
mod imp {
    use super::Range;

    pub(super) const ALIGN: usize = 1;

    pub(super) fn prefer_large(_bytes: Range<*mut u8>) {}

    pub(super) fn bring_in(_bytes: Range<*mut u8>) {}

    pub(super) unsafe fn give_up(_bytes: Range<*mut u8>) {}
}

/// Asks for large pages under `bytes`, if they start at one and as far as they fill some: one fault in the
/// place of 512, and one entry of the processor's tables. The system may have none, or may not give any
/// (`/sys/kernel/mm/transparent_hugepage/enabled`). Brings the first one in, which can take milliseconds
/// when the system has to zero or gather it; so it is called under no lock that a release needs. The wish
/// stays with the memory when it goes back to the allocator.
pub(crate) fn prefer_large(bytes: Range<*mut u8>) {
    imp::prefer_large(bytes);
}

/// Brings in the pages of `bytes`, which are allocated memory, before they are touched: together, which takes the
/// system less time than a fault for each.
pub(crate) fn bring_in(bytes: Range<*mut u8>) {
    imp::bring_in(bytes);
}

/// Has the pages leave the memory of the process. Reading them afterwards is as reading memory never
/// written.
///
/// # Safety
///
/// The bytes are the caller's alone, and nothing in them is needed any more.
pub(crate) unsafe fn give_up(bytes: Range<*mut u8>) {
    // SAFETY: by contract.
    unsafe { imp::give_up(bytes) };
}
