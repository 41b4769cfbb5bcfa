//! What the system is asked about pages: for mappings of the pool's own, and by hints about the pages under a chunk,
//! that they are about to be used, or no longer are.
//!
//! Called by `chunks`. On the hints nothing depends but time and memory; where there is no such call
//! they do nothing. A mapping is had as it was asked for, or as far as the system gives it ([`OnRefusal`]).
#![allow(unsafe_code)] // System calls on memory.

use alloc::alloc::Layout;
use core::ops::Range;
use core::ptr::NonNull;

pub(crate) use imp::{PageChoices, Refusal};

/// How many bytes are brought in at a time. Fewer gain little over a fault for each page; more take no
/// less time an object, and longer at a time (16 pages of 4 KiB: some 20 µs, `tail` in benches/TABLES.md; in a
/// large page, the first step brings in all of it).
pub(crate) const STEP: usize = 1 << 16;

/// A large page, in bytes, where pages are of 4 KiB: elsewhere just a size.
pub(crate) const LARGE: usize = 2 << 20;

/// Where memory has to start to be of large pages; anywhere, where none can be asked for.
pub(crate) const ALIGN: usize = imp::ALIGN;

/// What a chunk or all of them have, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) bytes: usize,
    /// Of them, locked.
    pub(crate) locked: usize,
    /// Of them, on huge pages, or on transparent ones as far as the kernel has them.
    pub(crate) huge: usize,
    /// Chunks that were ever had without something that was asked for.
    pub(crate) fallbacks: usize,
}

impl Held {
    /// Wrapping, so that what is taken away can be counted before what it is taken from.
    pub(super) fn add(&mut self, other: Held) {
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.locked = self.locked.wrapping_add(other.locked);
        self.huge = self.huge.wrapping_add(other.huge);
        self.fallbacks += other.fallbacks;
    }

    /// Of what was given back. That a chunk fell back stays counted.
    pub(super) fn subtract(&mut self, other: Held) {
        self.bytes = self.bytes.wrapping_sub(other.bytes);
        self.locked = self.locked.wrapping_sub(other.locked);
        self.huge = self.huge.wrapping_sub(other.huge);
    }
}

/// What is to be done when the system does not give all that a mapping is asked to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnRefusal {
    /// Give nothing, and say why.
    Fail,
    /// Go without what it refuses.
    FallBack,
}

/// Pages of the pool's own, given back when dropped.
pub(super) struct Mapping {
    start: NonNull<u8>,
    held: Held,
    /// Whether all pages are there.
    resident: bool,
}

impl Mapping {
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn held(&self) -> Held {
        self.held
    }

    pub(super) fn is_resident(&self) -> bool {
        self.resident
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped for this `Mapping`, whose owner has nothing in it any more.
        unsafe { imp::unmap(self.start, self.held.bytes) };
    }
}

/// Maps whole pages, `layout.size()` bytes of them. Tried with all choices at once; each time that the system
/// refuses one, without it.
pub(super) fn map(
    layout: Layout,
    choices: &PageChoices,
    on_refusal: OnRefusal,
) -> Result<Mapping, Refusal> {
    let mut choices = choices.clone();
    let mut fallbacks = 0;
    loop {
        match imp::map(layout, &choices) {
            Ok(mut mapping) => {
                mapping.held.fallbacks = fallbacks;
                return Ok(mapping);
            }
            Err(refusal) => {
                if on_refusal == OnRefusal::Fail || !choices.give_up(&refusal) {
                    return Err(refusal);
                }
                fallbacks = 1;
            }
        }
    }
}

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod imp {
    use std::fmt;
    use std::fs;
    use std::io;
    use std::ptr;

    use super::{Held, LARGE, Layout, Mapping, NonNull, Range};
    use crate::memory::Huge;

    /// Since Linux 5.14; before, an error, and the pages come one by one as they are touched.
    const MADV_POPULATE_WRITE: libc::c_int = 23;

    pub(super) const ALIGN: usize = LARGE;

    /// Which transparent huge pages the kernel gives.
    const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

    /// Nodes that a mask for `mbind` has room for: the most that Linux can be built for.
    const MOST_NODES: usize = 1024;

    /// Take the pages from these nodes only.
    const MPOL_BIND: libc::c_int = 2;

    /// What a mapping shall be.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct PageChoices {
        pub(crate) huge: Option<Huge>,
        pub(crate) locked: bool,
        pub(crate) prefaulted: bool,
        pub(crate) node: Option<u32>,
    }

    impl PageChoices {
        /// The size of a page, of which a mapping has a whole number, and which it starts at a multiple of.
        pub(in super::super) fn page(&self) -> usize {
            match self.huge {
                Some(_) => LARGE,
                None => page(),
            }
        }

        /// Leaves out what was refused; `false` if that is all there is.
        pub(super) fn give_up(&mut self, refusal: &Refusal) -> bool {
            match refusal.choice {
                Choice::Mapping => return false,
                Choice::Huge(_) => self.huge = None,
                Choice::Locked { .. } => self.locked = false,
                Choice::Prefaulted => self.prefaulted = false,
                Choice::Node { .. } => self.node = None,
            }
            true
        }
    }

    /// What the system refused, and what it said.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Refusal {
        choice: Choice,
        bytes: usize,
        /// The number of the system's error; 0 if the library found out by itself.
        error: i32,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Choice {
        /// Any memory at all.
        Mapping,
        Huge(Huge),
        Locked {
            limit: libc::rlim_t,
        },
        Prefaulted,
        Node {
            node: u32,
        },
    }

    impl Refusal {
        /// The error that the last system call left.
        fn last(choice: Choice, bytes: usize) -> Self {
            let error = io::Error::last_os_error().raw_os_error().unwrap_or(0);
            Refusal {
                choice,
                bytes,
                error,
            }
        }

        /// One of each kind, for the list of messages.
        #[cfg(test)]
        pub(crate) fn samples() -> Vec<Refusal> {
            let mut choices = vec![Choice::Mapping];
            while let Some(last) = choices.last() {
                // A match, so that the compiler asks for what is added.
                choices.push(match *last {
                    Choice::Mapping => Choice::Huge(Huge::Explicit),
                    Choice::Huge(Huge::Explicit) => Choice::Huge(Huge::Transparent),
                    Choice::Huge(Huge::Transparent) => Choice::Locked { limit: 8_388_608 },
                    Choice::Locked {
                        limit: libc::RLIM_INFINITY,
                    } => Choice::Prefaulted,
                    Choice::Locked { .. } => Choice::Locked {
                        limit: libc::RLIM_INFINITY,
                    },
                    Choice::Prefaulted => Choice::Node { node: 1 },
                    Choice::Node { .. } => break,
                });
            }
            let refused = |choice| Refusal {
                choice,
                bytes: 2 * LARGE,
                error: libc::ENOMEM,
            };
            choices.into_iter().map(refused).collect()
        }

        /// Whether there is no memory at all.
        pub(crate) fn is_of_all(&self) -> bool {
            self.choice == Choice::Mapping
        }
    }

    impl fmt::Display for Refusal {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let Refusal { bytes, error, .. } = *self;
            let said = io::Error::from_raw_os_error(error);
            match self.choice {
                Choice::Mapping => write!(
                    f,
                    "the system does not map {bytes} bytes: {said}; lower prefill or grow_by"
                ),
                Choice::Huge(Huge::Explicit) => write!(
                    f,
                    "memory huge(Explicit): the system does not give {pages} free huge pages of 2 MiB: {said}; \
                     set more aside (`sysctl vm.nr_hugepages={pages}` or more), lower prefill or grow_by, or use \
                     huge(Transparent)",
                    pages = bytes / LARGE
                ),
                Choice::Huge(Huge::Transparent) => write!(
                    f,
                    "memory huge(Transparent): the system has no transparent huge pages; write madvise or \
                     always to {TRANSPARENT}, or leave huge out"
                ),
                Choice::Locked { limit } => {
                    write!(
                        f,
                        "memory locked: the system does not lock {bytes} bytes more: {said}; RLIMIT_MEMLOCK is "
                    )?;
                    match limit {
                        libc::RLIM_INFINITY => f.write_str("unlimited")?,
                        limit => write!(f, "{limit} bytes")?,
                    }
                    f.write_str(
                        " for the process: raise it (`ulimit -l`, or LimitMEMLOCK= of a systemd unit), lower prefill \
                         or grow_by, or leave locked out",
                    )
                }
                Choice::Prefaulted => write!(
                    f,
                    "memory prefaulted: the system does not make {bytes} bytes resident: {said}; lower prefill or \
                     grow_by, or leave prefaulted out"
                ),
                Choice::Node { node } if error == libc::EINVAL => {
                    let online = fs::read_to_string("/sys/devices/system/node/online");
                    write!(
                        f,
                        "memory node {node}: the process has no such NUMA node with memory; use one of {}",
                        online
                            .as_deref()
                            .unwrap_or("those in /sys/devices/system/node")
                            .trim()
                    )
                }
                Choice::Node { node } => write!(
                    f,
                    "memory node {node}: the system does not bind memory to a NUMA node: {said}; allow mbind (in a \
                     container, the capability CAP_SYS_NICE), or leave node out"
                ),
            }
        }
    }

    fn page() -> usize {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(page).unwrap_or(usize::MAX)
    }

    /// Says what whole pages will be used for; whether the system took it.
    fn advise(start: *mut u8, len: usize, advice: Advice) -> bool {
        // SAFETY: changes nothing in them: as if each page were written with what is in it. An error changes
        // nothing at all.
        unsafe { libc::madvise(start.cast(), len, advice as libc::c_int) == 0 }
    }

    /// Advice that leaves what is in a page.
    #[derive(Clone, Copy)]
    enum Advice {
        Huge = libc::MADV_HUGEPAGE as isize,
        Populate = MADV_POPULATE_WRITE as isize,
    }

    pub(super) fn prefer_large(bytes: Range<*mut u8>) {
        let len = (bytes.end.addr() - bytes.start.addr()) / LARGE * LARGE;
        if len == 0 || bytes.start.addr() % ALIGN != 0 {
            return;
        }
        if advise(bytes.start, len, Advice::Huge) {
            bring_in(bytes.start..bytes.start.wrapping_add(super::STEP));
        }
    }

    pub(super) fn bring_in(bytes: Range<*mut u8>) {
        let page = page();
        // What shares a page with the bytes is mapped as they are, and keeps its contents.
        let first = bytes.start.map_addr(|start| start / page * page);
        advise(first, bytes.end.addr() - first.addr(), Advice::Populate);
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

    /// A mapping that is all that was chosen.
    pub(super) fn map(layout: Layout, choices: &PageChoices) -> Result<Mapping, Refusal> {
        let bytes = layout.size();
        let refused = |choice| Refusal::last(choice, bytes);
        let explicit = choices.huge == Some(Huge::Explicit);
        let mut mapping = if explicit {
            // Of 2 MiB, whatever the system's default is.
            let huge = libc::MAP_HUGETLB | (LARGE.ilog2() << libc::MAP_HUGE_SHIFT) as libc::c_int;
            reserve(layout, LARGE, huge).ok_or_else(|| refused(Choice::Huge(Huge::Explicit)))?
        } else {
            reserve(layout, page(), 0).ok_or_else(|| refused(Choice::Mapping))?
        };
        let start = mapping.start.as_ptr();
        if choices.huge == Some(Huge::Transparent)
            && !(gives_transparent() && advise(start, bytes, Advice::Huge))
        {
            return Err(refused(Choice::Huge(Huge::Transparent)));
        }
        // Before any page is there.
        if let Some(node) = choices.node.filter(|node| !bind(&mapping, *node)) {
            return Err(refused(Choice::Node { node }));
        }
        if explicit && !populate(&mapping) {
            return Err(refused(Choice::Huge(Huge::Explicit)));
        }
        if choices.locked {
            // SAFETY: brings the pages in, and changes nothing in them.
            if unsafe { libc::mlock(start.cast(), bytes) } != 0 {
                let limit = lock_limit();
                return Err(refused(Choice::Locked { limit }));
            }
            mapping.held.locked = bytes;
        }
        if choices.prefaulted && !populate(&mapping) {
            return Err(refused(Choice::Prefaulted));
        }
        if choices.huge.is_some() {
            mapping.held.huge = bytes;
        }
        mapping.resident = explicit || choices.locked || choices.prefaulted;
        Ok(mapping)
    }

    /// Maps `layout.size()` bytes, in pages of `page` bytes.
    fn reserve(layout: Layout, page: usize, flags: libc::c_int) -> Option<Mapping> {
        // More than is needed, when a page starts too often; what is too much goes back.
        let slack = layout.align().saturating_sub(page);
        let len = layout.size().checked_add(slack)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, wherever the system has room for it.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let all = start.cast::<u8>();
        let start = all.map_addr(|start| start.next_multiple_of(layout.align()));
        let before = start.addr() - all.addr();
        let parts = [
            (all, before),
            (start.wrapping_add(layout.size()), slack - before),
        ];
        for (part, len) in parts {
            if let Some(part) = NonNull::new(part).filter(|_| len > 0) {
                // SAFETY: whole pages of the new mapping, in which there is nothing.
                unsafe { unmap(part, len) };
            }
        }
        Some(Mapping {
            start: NonNull::new(start)?,
            held: Held {
                bytes: layout.size(),
                ..Held::default()
            },
            resident: false,
        })
    }

    /// # Safety
    ///
    /// Whole pages, mapped here, which are the caller's alone and not used after this.
    pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
        // SAFETY: by contract. It fails only where one mapping becomes two, one more than the system has room for: then
        // the pages stay as they are.
        unsafe { libc::munmap(start.as_ptr().cast(), len) };
    }

    /// Brings all pages in; `false` if that failed.
    fn populate(mapping: &Mapping) -> bool {
        let start = mapping.start.as_ptr();
        if advise(start, mapping.held.bytes, Advice::Populate) {
            return true;
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            return false;
        }
        // A kernel that does not know the advice.
        for offset in (0..mapping.held.bytes).step_by(page()) {
            // SAFETY: within the mapping, in which there is nothing yet.
            unsafe { start.wrapping_add(offset).write_volatile(0) };
        }
        true
    }

    /// Has the pages come from a NUMA node; `false` with the system's error if that failed.
    fn bind(mapping: &Mapping, node: u32) -> bool {
        const BITS: usize = libc::c_ulong::BITS as usize;
        let mut mask: [libc::c_ulong; MOST_NODES / BITS] = [0; MOST_NODES / BITS];
        let node = node as usize;
        // No word of it for a node that no system has: a mask that is empty is refused as such a node is.
        if let Some(word) = mask.get_mut(node / BITS) {
            *word = 1 << (node % BITS);
        }
        // One more than it has bits, which the kernel takes off again.
        let bits = MOST_NODES + 1;
        // SAFETY: says where the pages come from, and changes nothing in them. The mask is as long as that.
        let bound = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                mapping.start.as_ptr(),
                mapping.held.bytes,
                MPOL_BIND,
                mask.as_ptr(),
                bits,
                0,
            )
        };
        bound == 0
    }

    /// Whether the kernel has transparent huge pages to give.
    fn gives_transparent() -> bool {
        fs::read_to_string(TRANSPARENT).is_ok_and(|enabled| !enabled.contains("[never]"))
    }

    /// How many bytes the process may lock. Leaves the error of the call before.
    fn lock_limit() -> libc::rlim_t {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: writes the limit there.
        unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
        limit.rlim_cur
    }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(loom))))]
mod imp {
    use core::convert::Infallible;
    use core::fmt;

    use super::{Layout, Mapping, NonNull, Range};

    pub(super) const ALIGN: usize = 1;

    /// Pages cannot be asked for.
    #[derive(Clone, Debug)]
    pub(crate) struct PageChoices(Infallible);

    impl PageChoices {
        pub(in super::super) fn page(&self) -> usize {
            match self.0 {}
        }

        pub(super) fn give_up(&mut self, refusal: &Refusal) -> bool {
            match refusal.0 {}
        }
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Refusal(Infallible);

    impl Refusal {
        pub(crate) fn is_of_all(&self) -> bool {
            match self.0 {}
        }
    }

    impl fmt::Display for Refusal {
        fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0 {}
        }
    }

    pub(super) fn map(_layout: Layout, choices: &PageChoices) -> Result<Mapping, Refusal> {
        match choices.0 {}
    }

    pub(super) unsafe fn unmap(_start: NonNull<u8>, _len: usize) {}

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
