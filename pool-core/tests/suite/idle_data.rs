//! What an idle object holds: with the recipe of `docs/idle-data.md`, nothing of who had it before, in
//! its own memory and in what it owns; with a plain reset, the bytes.

#![cfg(not(loom))]

use pool_core::{Backend, Pool, Poolable, ResetOn};
use zeroize::{Zeroize, Zeroizing};

/// The recipe.
#[derive(Poolable)]
struct Session {
    id: u64,
    #[poolable(reset = Zeroize::zeroize)]
    key: [u8; 32],
    #[poolable(reset = Zeroize::zeroize)]
    token: String,
    #[poolable(reset = Zeroize::zeroize)]
    body: Vec<u8>,
}

/// The same without.
#[derive(Poolable)]
struct Plain {
    id: u64,
    body: Vec<u8>,
}

const SECRET: &[u8; 32] = b"correct horse battery staple 123";

/// The bytes of a block that is alive, whoever owns it.
///
/// # Safety
///
/// `bytes` bytes at `start` are initialised, and nobody writes there meanwhile.
unsafe fn bytes_at(start: *const u8, bytes: usize) -> Vec<u8> {
    let byte_at = |at| {
        // SAFETY: by contract within the block.
        let byte = unsafe { start.add(at) };
        // SAFETY: by contract.
        unsafe { byte.read_volatile() }
    };
    (0..bytes).map(byte_at).collect()
}

fn holds(memory: &[u8], secret: &[u8]) -> bool {
    // Half of it is too much.
    memory
        .windows(16)
        .any(|window| secret.windows(16).any(|part| part == window))
}

#[test]
fn the_bytes_of_a_session_are_gone_when_it_is_idle() {
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        let pool = Pool::<Session>::builder().backend(backend).build().unwrap();
        let mut session = pool.acquire();
        session.id = u64::from_le_bytes(*b"identity");
        session.key = *SECRET;
        session.token.reserve(64);
        session.token.push_str(std::str::from_utf8(SECRET).unwrap());
        session.body.extend_from_slice(SECRET);
        // What was there and is behind the end now, counts too.
        session.token.truncate(3);
        session.body.truncate(3);
        let object = (&raw const *session).cast::<u8>();
        let token = (session.token.as_ptr(), SECRET.len());
        let body = (session.body.as_ptr(), SECRET.len());
        // SAFETY: the session's, which is not touched meanwhile.
        let before = unsafe { bytes_at(body.0, body.1) };
        assert!(holds(&before, SECRET), "it was there");
        drop(session);
        assert_eq!(pool.idle(), 1);

        // SAFETY: the object is alive, idle in the pool, which nobody else uses; it has no padding:
        // a word, 32 bytes, and two collections of three words.
        let object = unsafe { bytes_at(object, size_of::<Session>()) };
        assert!(!holds(&object, SECRET), "{backend}");
        for (start, len) in [token, body] {
            // SAFETY: owned by the object still, since a reset keeps the memory; written before.
            let bytes = unsafe { bytes_at(start, len) };
            assert_eq!(bytes, vec![0; len], "{backend}");
        }
        let session = pool.acquire();
        assert_eq!((session.id, session.token.as_str()), (0, ""));
        assert!(session.token.capacity() >= 64 && session.body.capacity() >= SECRET.len());
    }
}

/// That the test above can see what it looks for, and why there is a recipe.
#[test]
fn a_plain_reset_leaves_the_bytes_where_nobody_can_reach_them() {
    let pool = Pool::<Plain>::builder()
        .backend(Backend::Mutex)
        .build()
        .unwrap();
    let mut plain = pool.acquire();
    plain.id = 1;
    plain.body.extend_from_slice(SECRET);
    let body = plain.body.as_ptr();
    drop(plain);
    // SAFETY: owned by the idle object, and written before.
    let bytes = unsafe { bytes_at(body, SECRET.len()) };
    assert_eq!(bytes, SECRET);
    assert!(pool.acquire().body.is_empty());
}

/// Wiped on acquire, an object lies there with all that was left in it until somebody wants it.
#[test]
fn a_reset_on_acquire_comes_late() {
    let builder = Pool::<Session>::builder().backend(Backend::Mutex);
    let pool = builder.reset_on(ResetOn::Acquire).build().unwrap();
    let mut session = pool.acquire();
    session.key = *SECRET;
    let key = session.key.as_ptr();
    drop(session);
    // SAFETY: of the idle object.
    assert_eq!(unsafe { bytes_at(key, SECRET.len()) }, SECRET);
    assert_eq!(pool.acquire().key, [0; 32]);
}

/// The recipe for a type that is not one's own: hooks.
#[test]
fn the_bytes_of_a_foreign_type_are_gone_when_it_is_idle() {
    let pool = Pool::builder_with(|| Zeroizing::new(vec![0_u8; 0]), Zeroize::zeroize);
    let pool = pool.backend(Backend::Batched).build().unwrap();
    let mut body = pool.acquire();
    body.extend_from_slice(SECRET);
    let start = body.as_ptr();
    drop(body);
    // SAFETY: owned by the idle object, and written before.
    assert_eq!(unsafe { bytes_at(start, SECRET.len()) }, [0; 32]);
}
