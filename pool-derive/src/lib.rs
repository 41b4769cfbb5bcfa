//! `#[derive(Poolable)]` for `pool-core`, which re-exports it: depend on that crate, not on this
//! one. The reference of what `#[poolable(…)]` can say is on [the derive](macro@Poolable) itself.
//!
//! The modules are the road of a derive, in order: `attr` reads what was written in the
//! attributes, `ast` the type they stand on, `check` turns both into what is meant, `expand`
//! writes that down as code. `fallback` is what goes out instead when there were mistakes.
#![forbid(unsafe_code)]

mod attr;
mod ast;
mod check;
mod expand;
mod fallback;
mod derive;
#[cfg(test)]
mod snapshots;

use proc_macro::TokenStream;

use crate::derive::derive;

/// Derives `Poolable`: how an object is made, and how each of its fields is made fresh again.
///
/// Every field is made and reset by its own type's `Poolable`, unless a word in
/// `#[poolable(…)]` says otherwise, so a field that is added later is reset as well.
///
/// ```
/// use pool_core::Poolable;
///
/// #[derive(Poolable)]
/// struct Order {
///     id: u64,
///     tags: Vec<String>,
///     note: Option<String>,
/// }
///
/// let mut order = Order::init();
/// order.id = 7;
/// order.tags.push("urgent".to_owned());
/// order.note = Some("before noon".to_owned());
///
/// order.reset();
/// assert_eq!(order.id, 0);
/// assert!(order.tags.is_empty() && order.tags.capacity() >= 1); // the memory stays
/// assert_eq!(order.note, None);
/// ```
///
/// # Words
///
/// | on | word | meaning |
/// | --- | --- | --- |
/// | field | *(none)* | made by `Poolable::init`, reset by `Poolable::reset` |
/// | field | [`default`](#default) | init and reset assign `Default::default()` |
/// | field | [`default = expr`](#default--expr) | init and reset assign the expression |
/// | field | [`init = expr`](#init--expr) | made by the expression; reset stays what it was |
/// | field | [`reset = path`, `reset = \|field\| …`](#reset--path-reset--field-) | called with `&mut field` |
/// | field | [`skip`](#skip) | reset leaves it alone |
/// | field | [`max_capacity = n`](#max_capacity--n) | a collection grown past `n` gives memory back on reset |
/// | variant | [`initial`](#initial) | the state that a fresh enum is in |
/// | type | [`reset_with = path`](#reset_with--path) | called with `&mut object` after the fields are reset |
/// | type | [`reusable = path`](#reusable--path) | says whether the object is worth keeping |
/// | type | [`bound = "…"`](#bound--) | replaces the inferred bounds |
/// | type | [`crate = path`](#crate--path) | where `pool_core` is |
///
/// Several words go into one attribute, `#[poolable(init = …, reset = …)]`, or into several. An
/// expression may name `Self`; it is written once in the code that is derived, however often it is
/// used, so a `static` in it is one `static`.
///
/// # On a field
///
/// ### `default`
///
/// For a type that implements `Default` and not `Poolable`. The old value is dropped on reset.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Default, PartialEq, Debug)]
/// enum Side { #[default] Buy, Sell }
///
/// #[derive(Poolable)]
/// struct Order {
///     #[poolable(default)]
///     side: Side,
/// }
///
/// let mut order = Order::init();
/// order.side = Side::Sell;
/// order.reset();
/// assert_eq!(order.side, Side::Buy);
/// ```
///
/// ### `default = expr`
///
/// For a field whose fresh value is not its type's.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// struct Order {
///     #[poolable(default = u64::MAX)]
///     limit: u64,
/// }
///
/// let mut order = Order::init();
/// assert_eq!(order.limit, u64::MAX);
/// order.limit = 100;
/// order.reset();
/// assert_eq!(order.limit, u64::MAX);
/// ```
///
/// ### `init = expr`
///
/// Only says how the field is made; reset is `Poolable::reset`, or what `reset` says. Use it for what survives a reset,
/// as capacity does. A *value* that a fresh object has belongs in `default = expr`.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// struct Frame {
///     #[poolable(init = Vec::with_capacity(1500))]
///     bytes: Vec<u8>,
/// }
///
/// let mut frame = Frame::init();
/// frame.bytes.extend_from_slice(b"hello");
/// frame.reset();
/// assert!(frame.bytes.is_empty() && frame.bytes.capacity() >= 1500);
/// ```
///
/// ### `reset = path`, `reset = |field| …`
///
/// What the function returns is dropped. Goes with `init` or `default` when the type does not implement `Poolable`.
///
/// ```
/// # use pool_core::Poolable;
/// struct Checksum { sum: u32 } // from a crate that knows of no pool
/// # impl Checksum { fn new() -> Self { Checksum { sum: 0 } } fn restart(&mut self) { self.sum = 0 } }
///
/// #[derive(Poolable)]
/// struct Packet {
///     #[poolable(init = Checksum::new(), reset = Checksum::restart)]
///     checksum: Checksum,
///     #[poolable(reset = |key| key.fill(0xff))]
///     key: [u8; 32],
/// }
///
/// let mut packet = Packet::init();
/// packet.checksum.sum = 3;
/// packet.reset();
/// assert_eq!(packet.checksum.sum, 0);
/// assert_eq!(packet.key, [0xff; 32]);
/// ```
///
/// ### `skip`
///
/// The next user of the object sees what the last one left there. For caches, ids and statistics, never for data of a
/// user's. Made by `init = expr`, `default`, `default = expr`, or else `Poolable::init`.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// struct Connection {
///     #[poolable(skip)]
///     times_used: u32,
///     #[poolable(skip, init = format!("buffer of {}", module_path!()))]
///     label: String,
/// }
///
/// let mut connection = Connection::init();
/// connection.times_used += 1;
/// connection.reset();
/// assert_eq!(connection.times_used, 1);
/// # assert!(connection.label.starts_with("buffer"));
/// ```
///
/// ### `max_capacity = n`
///
/// For whatever implements `pool_core::MaxCapacity`, as the collections and strings of `std` do and yours can. Up to
/// `n`, memory stays; what is beyond goes back to the allocator on reset, so that one huge message does not keep its
/// buffer for ever. With `default` or `default = expr`, the fresh contents are put into the memory that the field has.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// struct Message {
///     #[poolable(max_capacity = 64 * 1024)]
///     body: Vec<u8>,
///     #[poolable(default = "GET ".to_owned(), max_capacity = 256)]
///     head: String,
/// }
///
/// let mut message = Message::init();
/// message.body.resize(10_000_000, 0);
/// message.head.push_str("/index.html");
/// message.reset();
/// assert_eq!(message.body.capacity(), 64 * 1024);
/// assert_eq!(message.head, "GET ");
/// ```
///
/// # On a variant
///
/// ### `initial`
///
/// An enum says which variant a fresh object is in. There, reset resets the fields and so keeps their memory; from any
/// other variant it assigns a fresh object, which drops what the variant held. Fields of the other variants take no
/// words and need not be `Poolable`. An enum whose variants are all to keep their memory is [`in_place`](#in_place).
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable, PartialEq, Debug)]
/// enum Session {
///     #[poolable(initial)]
///     Idle {
///         buffer: Vec<u8>,
///         #[poolable(default = 3)]
///         attempts_left: u8,
///     },
///     Failed(std::io::ErrorKind),
/// }
///
/// let mut session = Session::Failed(std::io::ErrorKind::TimedOut);
/// session.reset();
/// assert_eq!(session, Session::Idle { buffer: Vec::new(), attempts_left: 3 });
/// ```
///
/// # On the type
///
/// ### `in_place`
///
/// For an enum whose variants own buffers. Reset resets the fields of the variant that is there and
/// leaves the variant, so its buffers survive. So an object from the pool may be in *any* variant,
/// with its fields fresh: whoever acquires it matches on what is there, or assigns. Only an object
/// that the pool has just made is in the variant marked `initial`. Fields of all variants take
/// words, but for those that say how a field is made where a fresh object has none.
///
/// Which variant the last user left can be seen by the next one. Where that is a secret, do without.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// #[poolable(in_place)]
/// enum Message {
///     #[poolable(initial)]
///     Heartbeat,
///     Text(String),
///     Order { legs: Vec<u64>, #[poolable(default = 100)] size: u32 },
/// }
///
/// let mut message = Message::Text(String::from("halted"));
/// message.reset();
/// assert!(matches!(&message, Message::Text(text) if text.is_empty() && text.capacity() >= 6));
///
/// // To write one: use what is there, or make it.
/// if !matches!(message, Message::Order { .. }) {
///     message = Message::Order { legs: Vec::with_capacity(4), size: 100 };
/// }
/// let Message::Order { legs, .. } = &mut message else { unreachable!() };
/// legs.push(7);
/// ```
///
/// ### `reset_with = path`
///
/// For what concerns several fields at once. A closure will do as well.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// #[poolable(reset_with = Self::count)]
/// struct Worker {
///     jobs: Vec<u32>,
///     #[poolable(skip)]
///     resets: u32,
/// }
///
/// impl Worker {
///     fn count(&mut self) {
///         self.resets += 1;
///     }
/// }
///
/// let mut worker = Worker::init();
/// worker.reset();
/// assert_eq!(worker.resets, 1);
/// ```
///
/// ### `reusable = path`
///
/// Called with `&object` after a reset; on `false` the pool drops the object instead of keeping it. A closure will do
/// as well. A field that is reset by its own `Poolable` is asked first: an object is as reusable as what it is made of.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// #[poolable(reusable = is_healthy)]
/// struct Connection {
///     #[poolable(skip)]
///     errors: u32,
/// }
///
/// fn is_healthy(connection: &Connection) -> bool {
///     connection.errors < 3
/// }
///
/// let mut connection = Connection::init();
/// assert!(connection.is_reusable());
/// connection.errors = 3;
/// assert!(!connection.is_reusable());
/// ```
///
/// ### `bound = "…"`
///
/// A field whose type names a type parameter must have the trait that it is made and reset by:
/// `Vec<T>: Poolable`, which asks nothing of `T`; `T: Default` for a `T` that is `default`; nothing
/// for a field that is skipped and made by an expression. `bound` replaces all of these by what you
/// would write after `where`. One place that needs it is a type that contains itself together with
/// a parameter, in something less common than `Option<Box<Self>>` or `Vec<Self>`.
///
/// ```
/// # use pool_core::Poolable;
/// #[derive(Poolable)]
/// #[poolable(bound = "T: Poolable")]
/// struct Tree<T> {
///     children: Vec<Tree<T>>,
///     both: (T, Option<Box<Tree<T>>>),
/// }
///
/// let mut tree = Tree::<u64>::init();
/// tree.children.push(Tree::init());
/// tree.reset();
/// assert!(tree.children.is_empty());
/// ```
///
/// ### `crate = path`
///
/// For a dependency that was renamed, or that comes through a re-export.
///
/// ```
/// mod facade {
///     pub use pool_core as pools;
/// }
///
/// #[derive(facade::pools::Poolable)]
/// #[poolable(crate = facade::pools)]
/// struct Order {
///     id: u64,
/// }
/// # let _ = <Order as facade::pools::Poolable>::init().id;
/// ```
///
/// # What goes together
///
/// `default` and `init` both say how a field is made, so one is enough; `skip` excludes `reset` and
/// `max_capacity`. Everything else combines:
///
/// | words | made by | reset by |
/// | --- | --- | --- |
/// | `init = expr, reset = path` | the expression | the path |
/// | `default, reset = path` | `Default::default()` | the path |
/// | `init = expr, max_capacity = n` | the expression | `Poolable::reset`, then at most `n` |
/// | `default, max_capacity = n` | `Default::default()` | the same, in place, then at most `n` |
/// | `reset = path, max_capacity = n` | `Poolable::init` | the path, then at most `n` |
/// | `skip, init = expr` | the expression | nothing |
/// | `skip, default` | `Default::default()` | nothing |
///
/// Fields are reset in the order they are declared. A `Drop` of the type's does not run on reset.
///
/// # In place
///
/// For a struct, the derive also writes `Poolable::init_in`, which makes each field where it will stay. So an object
/// larger than the stack can be pooled, as long as no single field is made by an expression that is itself too large:
/// `default = [0; 4 << 20]` is a value on the stack, a plain `[u8; 4 << 20]` field is not. When making a field panics,
/// those made before are dropped. An enum is made as a value and moved.
///
/// # Unions and packed structs
///
/// A union cannot say which of its fields to reset: an error. In a packed struct, a field that may
/// lie unaligned cannot be borrowed, so it must be assigned or left alone: `default` or `skip`.
///
/// # From a plain struct to a pooled one
///
/// Start with what a message loop makes for every message:
///
/// ```
/// struct Request {
///     id: u64,
///     path: String,
///     headers: Vec<(String, String)>,
///     body: Vec<u8>,
///     retries_left: u8,
///     peer: Option<std::net::SocketAddr>,
/// }
/// ```
///
/// *Derive.* All these types are `Poolable` already, so `#[derive(Poolable)]` compiles as it is, and
/// `path`, `headers` and `body` keep their memory from one request to the next.
///
/// *Say what fresh means.* `retries_left` starts at 3, not 0: that is a value, so
/// `default = 3`.
///
/// *Save the first growth.* Most bodies fit into 4 KiB: `init = Vec::with_capacity(4096)`.
///
/// *Bound the memory.* Somebody will send 100 MB: `max_capacity = 64 * 1024`.
///
/// *Look for what should survive.* A scratch table that is the same for everybody may be marked
/// `skip`. Nothing of a user's may.
///
/// ```
/// use pool_core::Poolable;
///
/// #[derive(Poolable)]
/// struct Request {
///     id: u64,
///     path: String,
///     headers: Vec<(String, String)>,
///     #[poolable(init = Vec::with_capacity(4096), max_capacity = 64 * 1024)]
///     body: Vec<u8>,
///     #[poolable(default = 3)]
///     retries_left: u8,
///     peer: Option<std::net::SocketAddr>,
///     #[poolable(skip, init = (0..=255).map(f64::from).collect())]
///     scratch: Box<[f64]>,
/// }
///
/// // What a pool does with it:
/// let mut request = Request::init();
/// request.path.push_str("/orders");
/// request.body.resize(100_000_000, b'x');
/// request.retries_left -= 1;
/// request.reset();
///
/// // And what the next user gets:
/// assert_eq!((request.id, request.retries_left), (0, 3));
/// assert!(request.path.is_empty() && request.path.capacity() > 0);
/// assert!(request.body.is_empty() && request.body.capacity() == 64 * 1024);
/// assert_eq!(request.scratch[7], 7.0);
/// # let _ = (request.headers, request.peer);
/// ```
///
/// In the loop, an `acquire` takes the place of the constructor, and a drop that of the destructor:
///
/// ```
/// # use pool_core::Poolable;
/// # #[derive(Poolable)]
/// # struct Request { id: u64, body: Vec<u8> }
/// use pool_core::Pool;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = Pool::<Request>::builder().capacity(1_000).build()?;
/// for id in 0..10_000 {
///     let mut request = pool.acquire();
///     request.id = id;
///     request.body.extend_from_slice(b"the same memory every time");
/// } // reset, and back in the pool
/// assert_eq!(pool.stats().created, 1);
/// # Ok(())
/// # }
/// ```
#[proc_macro_derive(Poolable, attributes(poolable))]
pub fn derive_poolable(input: TokenStream) -> TokenStream {
    derive(input.into()).into()
}
