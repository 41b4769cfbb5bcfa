//! One round: some pools, some threads, and what passes between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

// Not std's, which is not built with a sanitizer.
use parking_lot::{Mutex, MutexGuard};
use pool_core::{Backend, Burst, Pooled, SharedPooled};

use crate::alarm::{check, fail};
use crate::body::{Body, Hooks};
use crate::book::{Book, FIRST, MAIL};
use crate::dice::{self, chance, mix, pick, roll};
use crate::plan::{Plan, TorturePool};
use crate::rest;
use crate::worker;

pub(crate) type Handle<const WORDS: usize> = Pooled<Body<WORDS>, Hooks<WORDS>>;
pub(crate) type Many<const WORDS: usize> = Burst<Body<WORDS>, Hooks<WORDS>>;
pub(crate) type Shared<const WORDS: usize> = SharedPooled<Body<WORDS>, Hooks<WORDS>>;

/// What a thread holds, or has sent to another.
pub(crate) enum Held<const WORDS: usize> {
    One(Handle<WORDS>),
    Many(Many<WORDS>),
    Shared(Shared<WORDS>),
    /// From `into_raw`.
    Raw(usize),
}

impl<const WORDS: usize> Held<WORDS> {
    /// As a handle again, if it is a raw pointer.
    pub(crate) fn cooked(self) -> Self {
        match self {
            Held::Raw(address) => {
                let object = address as *mut Body<WORDS>;
                // SAFETY: from `into_raw` of a handle of this type, and taken up once, since this
                // was moved here.
                Held::One(unsafe { Pooled::from_raw(object) })
            }
            other => other,
        }
    }
}

/// A pool of a round.
pub(crate) struct Site<const WORDS: usize> {
    pub(crate) plan: Plan,
    pub(crate) book: Arc<Book>,
    /// For threads to begin with; gone when somebody has ended the pool.
    front: Mutex<Option<TorturePool<WORDS>>>,
}

impl<const WORDS: usize> Site<WORDS> {
    pub(crate) fn front(&self) -> MutexGuard<'_, Option<TorturePool<WORDS>>> {
        self.front.lock()
    }
}

/// Counts of what happened, for the summary.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    pub(crate) rounds: AtomicU64,
    pub(crate) threads: AtomicU64,
    pub(crate) objects: AtomicU64,
    pub(crate) panics: AtomicU64,
    pub(crate) exhausted: AtomicU64,
    pub(crate) timeouts: AtomicU64,
    pub(crate) closed: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) vacant: AtomicU64,
    pub(crate) resized: AtomicU64,
    pub(crate) retained: AtomicU64,
    pub(crate) idled: AtomicU64,
    pub(crate) waits: AtomicU64,
    pub(crate) revocations: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) forgotten: AtomicU64,
    pub(crate) pools: Mutex<BTreeMap<&'static str, u64>>,
}

impl Happened {
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add(counter: &AtomicU64, n: usize) {
        counter.fetch_add(n as u64, Ordering::Relaxed);
    }
}

/// What the rounds of a run have in common.
pub(crate) struct Rules {
    pub(crate) backends: Vec<Backend>,
    /// Threads at a time, at most.
    pub(crate) threads: usize,
    /// Whether handles may be forgotten, which leaks.
    pub(crate) forget: bool,
    /// Steps of all threads of a round together, at most.
    pub(crate) steps: usize,
}

pub(crate) struct Round<const WORDS: usize> {
    seed: u64,
    pub(crate) backends: Vec<Backend>,
    pub(crate) sites: Vec<Site<WORDS>>,
    /// What threads send each other.
    mail: Mutex<Vec<Held<WORDS>>>,
    /// The books of pools that threads made for themselves.
    books: Mutex<Vec<Arc<Book>>>,
    numbers: AtomicUsize,
    children: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) leaky: bool,
    pub(crate) happened: Arc<Happened>,
}

/// As many as may be on their way at a time.
const LARGEST_MAIL: usize = 48;

impl<const WORDS: usize> Round<WORDS> {
    pub(crate) fn send(&self, held: Held<WORDS>) -> Result<(), Held<WORDS>> {
        let mut mail = self.mail.lock();
        if mail.len() >= LARGEST_MAIL {
            return Err(held);
        }
        Happened::count(&self.happened.sent);
        mail.push(held);
        Ok(())
    }

    pub(crate) fn receive(&self) -> Option<Held<WORDS>> {
        let mut mail = self.mail.lock();
        if mail.is_empty() {
            return None;
        }
        let at = roll(mail.len());
        Some(mail.swap_remove(at).cooked())
    }

    /// The number of one pool more.
    pub(crate) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Keeps the book of a pool that a thread made for itself.
    pub(crate) fn keep(&self, kind: &'static str, book: Arc<Book>) {
        *self.happened.pools.lock().entry(kind).or_default() += 1;
        self.books.lock().push(book);
    }

    /// Starts the thread of a lane that comes after `generation - 1` others, with `steps` to do for it
    /// and those after it.
    pub(crate) fn spawn(self: &Arc<Self>, lane: usize, generation: usize, steps: usize) {
        let round = self.clone();
        Happened::count(&self.happened.threads);
        let seed = mix(mix(self.seed, lane as u64), generation as u64);
        let owner = FIRST + (lane * 4_096 + generation) as u32;
        let child = thread::Builder::new()
            .name(format!("lane {lane}, thread {generation}"))
            .spawn(move || {
                dice::seed(seed);
                worker::live(&round, owner, steps, |left| {
                    if left > 0 {
                        round.spawn(lane, generation + 1, left);
                    }
                });
            });
        match child {
            Ok(child) => self.children.lock().push(child),
            Err(error) => fail(&format!("a thread could not be started: {error}")),
        }
    }

    /// Waits until all threads have ended, thread-locals included.
    fn join(&self) {
        loop {
            let child = self.children.lock().pop();
            match child.map(JoinHandle::join) {
                Some(Ok(())) => {}
                Some(Err(_)) => fail("a thread ended with a panic"),
                None => return,
            }
        }
    }
}

/// Plays the round with `seed`.
pub(crate) fn play(seed: u64, rules: &Rules, happened: &Arc<Happened>) {
    dice::seed(seed);
    Happened::count(&happened.rounds);
    match roll(3) {
        0 => play_with::<1>(seed, rules, happened),
        1 => play_with::<6>(seed, rules, happened),
        _ => play_with::<40>(seed, rules, happened),
    }
}

fn play_with<const WORDS: usize>(seed: u64, rules: &Rules, happened: &Arc<Happened>) {
    let sites = (0..1 + roll(4)).map(|number| site::<WORDS>(number, rules, happened));
    let sites: Vec<_> = sites.collect();
    let lanes = match roll(8) {
        0 => 1,
        // A storm of short lives.
        1 => rules.threads * 4,
        _ => 1 + roll(rules.threads),
    };
    let steps = rules.steps / lanes;
    let round = Arc::new(Round {
        seed,
        backends: rules.backends.clone(),
        numbers: AtomicUsize::new(sites.len()),
        sites,
        mail: Mutex::default(),
        books: Mutex::default(),
        children: Mutex::default(),
        leaky: rules.forget && chance(150),
        happened: happened.clone(),
    });
    for lane in 0..lanes {
        round.spawn(lane, 0, pick(&[steps / 4, steps / 2, steps]).max(1));
    }
    round.join();
    let Ok(mut round) = Arc::try_unwrap(round).map_err(drop) else {
        fail("a thread that has ended holds the round");
    };
    let mail = std::mem::take(&mut *round.mail.lock());
    let sites = std::mem::take(&mut round.sites);
    let pools: Vec<_> = sites.iter().map(|site| site.front().take()).collect();
    let mut books = std::mem::take(&mut *round.books.lock());
    books.extend(sites.iter().map(|site| site.book.clone()));
    for book in &books {
        book.set_calm(true);
    }
    rest::check_all(&sites, pools, mail, happened);
    for book in &books {
        rest::check_end(book, happened);
    }
}

fn site<const WORDS: usize>(number: usize, rules: &Rules, happened: &Happened) -> Site<WORDS> {
    let plan = Plan::roll(&rules.backends);
    *happened
        .pools
        .lock()
        .entry(plan.backend.name())
        .or_default() += 1;
    let (pool, book) = plan.build(number);
    Site {
        plan,
        book,
        front: Mutex::new(Some(pool)),
    }
}

/// The objects of the book `of` that are held in `mail`, by number: each in one place only.
pub(crate) fn held_of<const WORDS: usize>(mail: &[Held<WORDS>], of: &Book) -> BTreeSet<usize> {
    let (mut alone, mut shared) = (BTreeSet::new(), BTreeSet::new());
    let mut once = |body: &Body<WORDS>| {
        if std::ptr::eq(&raw const **body.book(), of) {
            body.assert_held(MAIL);
            check(alone.insert(body.number()), || {
                format!("object {} is held twice", body.number())
            });
        }
    };
    for held in mail {
        match held {
            Held::One(handle) => once(handle),
            Held::Many(burst) => burst.iter().for_each(|handle| once(handle)),
            Held::Shared(handle) => {
                if std::ptr::eq(&raw const **handle.book(), of) {
                    handle.assert_shared();
                    shared.insert(handle.number());
                }
            }
            Held::Raw(_) => fail("a raw pointer was not made a handle"),
        }
    }
    check(alone.is_disjoint(&shared), || {
        "an object is shared, and held alone".to_owned()
    });
    alone.append(&mut shared);
    alone
}
