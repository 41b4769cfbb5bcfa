//! Where a pool's memory comes from.

#[cfg(feature = "allocator-api2")]
use alloc::sync::Arc;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use crate::error::BuildErrorKind;
use crate::object::PageChoices;

/// Where the memory of a pool's objects comes from, for [`Builder::memory`](crate::Builder::memory).
///
/// A pool asks for memory a chunk at a time (see [`Builder::grow_by`](crate::Builder::grow_by)) and returns a chunk when
/// a trim finds no object in it, and at the pool's end. What the fields of objects own, and the pool's lists of pointers,
/// come from the global allocator.
///
/// - [`system`](Self::system), the default: the global allocator.
#[cfg_attr(
    all(feature = "std", target_os = "linux", not(loom)),
    doc = "- [`pages`](Self::pages), on Linux: pages of the pool's own; huge, locked, prefaulted, on a NUMA node."
)]
#[cfg_attr(
    feature = "allocator-api2",
    doc = "- [`allocator`](Self::allocator): any `Allocator` of the crate `allocator-api2`."
)]
///
/// # The first chunk, and later ones
///
/// With any but the default, `build` allocates the first chunk: for [`prefill`](crate::Builder::prefill) objects, or a
/// growth step. If the system refuses it, the [`BuildError`](crate::BuildError) names the limit and the remedy.
///
/// A later chunk does without what is refused, on plain pages if need be, and
/// [`Stats::memory_fallbacks`](crate::Stats::memory_fallbacks) counts it. Without any memory the process ends
/// ([`handle_alloc_error`](std::alloc::handle_alloc_error)).
///
/// # Examples
///
/// ```
/// use pool_core::{Memory, Pool};
///
/// # #[cfg(target_os = "linux")]
/// # {
/// let memory = Memory::pages().prefaulted();
/// let pool = Pool::<[u64; 64]>::builder().memory(memory).prefill(100).build()?;
/// let stats = pool.stats();
/// assert!(stats.memory_bytes >= 100 * size_of::<[u64; 64]>());
/// assert_eq!(stats.memory_fallbacks, 0);
/// # }
/// # Ok::<(), pool_core::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct Memory {
    source: Source,
    /// The first choice for pages that was made for memory of another kind.
    misplaced: Option<&'static str>,
}

/// What a chunk is asked of.
#[derive(Clone, Default)]
pub(crate) enum Source {
    /// The global allocator.
    #[default]
    System,
    /// Mappings.
    #[cfg_attr(
        not(all(feature = "std", target_os = "linux", not(loom))),
        allow(dead_code)
    )]
    Pages(PageChoices),
    /// An allocator of the user's.
    #[cfg(feature = "allocator-api2")]
    Allocator(DynAllocator),
}

#[cfg(feature = "allocator-api2")]
pub(crate) type DynAllocator = Arc<dyn allocator_api2::alloc::Allocator + Send + Sync>;

// An allocator that panics is asked again, and gives what it gives.
impl UnwindSafe for Memory {}
impl RefUnwindSafe for Memory {}

impl Memory {
    /// The global allocator; the default. A chunk of 2 MiB or more asks Linux for transparent huge pages.
    #[must_use]
    pub fn system() -> Self {
        Memory::default()
    }

    /// An allocator of the crate `allocator-api2`. It is dropped with the last clone of this `Memory`, after the pool's
    /// last chunk.
    ///
    /// Requires feature `allocator-api2`.
    ///
    /// If it refuses a later chunk, the process ends: to prevent that, prefill a pool with a
    /// [`capacity`](crate::Builder::capacity). It must not use the pool, because it is called under the pool's lock for
    /// growth or trimming. If it panics, the acquire does, and the pool stays usable.
    ///
    /// # Examples
    ///
    /// ```
    /// use allocator_api2::alloc::Global;
    /// use pool_core::{Memory, Pool};
    ///
    /// let pool = Pool::<String>::builder().memory(Memory::allocator(Global)).build()?;
    /// drop(pool.acquire());
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    #[cfg(feature = "allocator-api2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "allocator-api2")))]
    #[must_use]
    pub fn allocator<A>(allocator: A) -> Self
    where
        A: allocator_api2::alloc::Allocator + Send + Sync + 'static,
    {
        Memory {
            source: Source::Allocator(Arc::new(allocator)),
            misplaced: None,
        }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn is_system(&self) -> bool {
        matches!(self.source, Source::System)
    }

    /// Whether it is the user's allocator, which may refuse what it once gave.
    pub(crate) fn is_allocator(&self) -> bool {
        !matches!(self.source, Source::System | Source::Pages(_))
    }

    /// Whether the choices go together.
    pub(crate) fn check(&self) -> Result<(), BuildErrorKind> {
        match self.misplaced {
            Some(choice) => Err(BuildErrorKind::ChoiceWithoutPages { choice }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::System => f.write_str("System"),
            Source::Pages(choices) => choices.fmt(f),
            #[cfg(feature = "allocator-api2")]
            Source::Allocator(_) => f.write_str("Allocator(..)"),
        }
    }
}

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use self::linux::Huge;

#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
mod linux {
    use super::{Memory, PageChoices, Source};

    /// Which kind of huge pages [`Memory::huge`] asks for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Huge {
        /// Transparent huge pages, where the kernel has some. Refused where
        /// `/sys/kernel/mm/transparent_hugepage/enabled` says `never`.
        Transparent,
        /// Pages of 2 MiB that were set aside (`sysctl vm.nr_hugepages`), resident and never swapped out. The child of a
        /// fork needs as many again when it writes to them, and is killed if there are none.
        Explicit,
    }

    /// Pages of the pool's own. The setters are for [`pages`](Self::pages) only; on other memory `build` refuses them.
    impl Memory {
        /// Pages of the pool's own, mapped by the chunk. A chunk fills whole pages, and is unmapped as soon as it is
        /// returned.
        #[must_use]
        pub fn pages() -> Self {
            Memory {
                source: Source::Pages(PageChoices::default()),
                misplaced: None,
            }
        }

        fn choose(mut self, choice: &'static str, choose: impl FnOnce(&mut PageChoices)) -> Self {
            match &mut self.source {
                Source::Pages(choices) => choose(choices),
                _ => self.misplaced = self.misplaced.or(Some(choice)),
            }
            self
        }

        /// Huge pages: fewer TLB misses, one fault instead of 512. Chunks are multiples of 2 MiB.
        #[must_use]
        pub fn huge(self, huge: Huge) -> Self {
            self.choose("huge", |choices| choices.huge = Some(huge))
        }

        /// Locks the pages into memory (`mlock`): resident and never swapped out. The process needs `RLIMIT_MEMLOCK`
        /// (`ulimit -l`) or the capability `CAP_IPC_LOCK`. In the child of a fork they are not locked.
        #[must_use]
        pub fn locked(self) -> Self {
            self.choose("locked", |choices| choices.locked = true)
        }

        /// Makes all pages of a chunk resident, so that no acquire takes a page fault. That takes long (`growth` in
        /// `benches/TABLES.md`): let another thread build the pool or call [`reserve`](crate::Pool::reserve).
        #[must_use]
        pub fn prefaulted(self) -> Self {
            self.choose("prefaulted", |choices| choices.prefaulted = true)
        }

        /// Takes the pages from a NUMA node, and from no other (`mbind`). When the node has no memory left, the kernel
        /// may end a process.
        #[must_use]
        pub fn node(self, node: u32) -> Self {
            self.choose("node", |choices| choices.node = Some(node))
        }
    }
}
