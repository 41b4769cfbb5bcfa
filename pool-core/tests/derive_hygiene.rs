//! `#[derive(Poolable)]` in crates that are hard to derive in: every lint on, no prelude, a renamed
//! dependency, names of `std` taken by other things, fields made by macros.
//!
//! That it compiles is most of the test.
#![cfg(feature = "derive")]
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused_qualifications,
    unused,
    rust_2018_idioms
)]
#![deny(
    single_use_lifetimes,
    unreachable_pub,
    trivial_casts,
    let_underscore_drop
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]

/// Every word, linted.
pub mod linted {
    use pool_core::Poolable;

    /// Every field word.
    #[derive(Poolable, Debug)]
    #[poolable(reset_with = Fields::after, reusable = Fields::is_small)]
    pub struct Fields {
        /// Plain.
        pub plain: u32,
        /// `default`.
        #[poolable(default)]
        pub default: Option<u8>,
        /// `default = expr`.
        #[poolable(default = Some(8))]
        pub expr: Option<u8>,
        /// `init`, `reset` by a path that returns what must be used.
        #[poolable(init = vec![1], reset = Self::wipe)]
        pub path: Vec<u8>,
        /// `reset` by a closure.
        #[poolable(reset = |field| field.take().map(|s| s.len()))]
        pub closure: Option<String>,
        /// `skip`.
        #[poolable(skip)]
        pub skip: String,
        /// `max_capacity`.
        #[poolable(max_capacity = 4 * 1024)]
        pub bounded: Vec<u8>,
        /// `default` and `max_capacity`.
        #[poolable(default, max_capacity = 64)]
        pub both: std::collections::HashMap<u8, String>,
    }

    impl Fields {
        #[must_use]
        fn wipe(field: &mut Vec<u8>) -> usize {
            field.clear();
            field.capacity()
        }

        const fn after(&mut self) {
            self.plain = 0;
        }

        fn is_small(&self) -> bool {
            self.bounded.capacity() < 10_000
        }
    }

    /// A tuple.
    #[derive(Poolable, Debug, Clone)]
    pub struct Tuple<T>(pub T, #[poolable(default = 3)] pub u8);

    /// Nothing.
    #[derive(Poolable, Debug, Clone, Copy)]
    pub struct Unit;

    /// All skipped.
    #[derive(Poolable, Debug)]
    pub struct Skipped(#[poolable(skip)] u8, #[poolable(skip, init = 0)] u8);

    /// Several variants.
    #[derive(Poolable, Debug)]
    #[poolable(reusable = |state| !matches!(state, State::Done))]
    pub enum State {
        /// Fresh.
        #[poolable(initial)]
        Idle {
            /// Kept.
            #[poolable(skip, default = 7)]
            id: u8,
            /// Cleared.
            bytes: Vec<u8>,
        },
        /// Not fresh.
        Busy(String),
        /// Not fresh.
        Done,
    }

    /// Left in its variant.
    #[derive(Poolable, Debug)]
    #[poolable(in_place)]
    pub enum InPlace<T> {
        /// Fresh.
        #[poolable(initial)]
        Idle(Vec<T>),
        /// Reset as the other is.
        Busy(Vec<T>),
        /// Nothing to reset.
        Done,
        /// Nothing to reset, either.
        #[deprecated]
        Old,
        /// A value of its own.
        Open {
            /// Assigned.
            #[poolable(default = 7)]
            id: u8,
        },
    }

    /// One variant.
    #[derive(Poolable, Debug)]
    pub enum Single {
        /// Fresh.
        #[poolable(initial)]
        Only,
    }

    /// Packed.
    #[derive(Poolable)]
    #[repr(C, packed)]
    #[allow(missing_debug_implementations)]
    pub struct Packed {
        /// Borrowed.
        pub tag: u8,
        /// Assigned.
        #[poolable(default)]
        pub wide: u64,
    }
}

/// Names that lints complain about, and things that are deprecated.
pub mod names {
    use pool_core::Poolable;

    /// An old type.
    #[deprecated]
    #[derive(Poolable, Debug)]
    pub struct Old(u8);

    /// Old and oddly named fields.
    #[derive(Poolable, Debug)]
    #[allow(non_snake_case)]
    pub struct Fields {
        /// Raw.
        pub r#type: u8,
        /// Raw, with an expression.
        #[poolable(default = 2)]
        pub r#match: u8,
        /// Not in snake case.
        #[poolable(default = 3)]
        pub OrderId: u8,
        /// Deprecated.
        #[deprecated = "use `type`"]
        pub deprecated: u8,
        /// Of a deprecated type.
        #[allow(deprecated)]
        pub old: Old,
        /// As locals of the expansion might be called.
        pub place: u8,
        /// As locals of the expansion might be called.
        pub whole: u8,
        /// As locals of the expansion might be called.
        pub value: u8,
        /// Not ASCII.
        pub größe: u8,
    }

    /// Raw names elsewhere.
    #[derive(Poolable, Debug)]
    #[allow(non_camel_case_types)]
    pub enum r#enum {
        /// Raw variant.
        #[poolable(initial)]
        r#loop {
            /// Raw field.
            r#in: u8,
        },
        /// Deprecated variant.
        #[deprecated]
        Old,
    }

    /// A deprecated variant that is fresh.
    #[derive(Poolable, Debug)]
    pub enum Aged {
        /// Fresh and deprecated.
        #[deprecated]
        #[poolable(initial)]
        Old,
        /// Not fresh.
        New,
    }
}

/// Private types in public ones.
pub mod private {
    use pool_core::Poolable;

    #[derive(Poolable, Debug)]
    struct Inner<T>(T);

    #[derive(Poolable, Debug)]
    struct Plain;

    /// Public, with a predicate that names a private type.
    #[derive(Poolable, Debug)]
    pub struct Outer<T> {
        inner: Inner<T>,
        plain: Plain,
        #[poolable(default = Plain)]
        made: Plain,
    }

    impl<T> Outer<T> {
        /// Reads the fields.
        pub const fn parts(&self) -> (&T, bool) {
            let (Plain, Plain) = (&self.plain, &self.made);
            (&self.inner.0, true)
        }
    }
}

/// No prelude, and the names it would have brought taken by other things.
pub mod bare {
    #![no_implicit_prelude]

    /// In the way.
    #[allow(missing_debug_implementations, missing_copy_implementations)]
    pub mod taken {
        /// Not `core`.
        pub mod core {}
        /// Not `std`.
        pub mod std {}
        /// Not `pool_core`.
        pub mod pool_core {}
        /// Not `Option`.
        pub struct Option;
        /// Not `Some`.
        pub struct Some;
        /// Not `Result`.
        pub struct Result;
        /// Not `Box`.
        pub struct Box;
        /// Not `Vec`.
        pub struct Vec;
        /// Not `String`.
        pub struct String;
        /// Not `bool`.
        #[allow(non_camel_case_types)]
        pub struct bool;
        /// Not `Default`.
        pub trait Default {}
        /// Not `Poolable`.
        pub trait Poolable {}
        /// Not `Sized`.
        pub trait Sized {}
        /// Not `FnOnce`.
        pub trait FnOnce {}
        /// Not `drop`.
        pub const fn drop() {}
    }
    #[allow(unused_imports)]
    use self::taken::*;

    /// Every word.
    #[derive(::pool_core::Poolable, ::core::fmt::Debug)]
    #[poolable(reset_with = after, reusable = judge)]
    pub struct Fields<T> {
        plain: T,
        #[poolable(default)]
        default: u8,
        #[poolable(default = 1)]
        expr: u8,
        #[poolable(init = 1, reset = |field| *field = 2)]
        closure: u8,
        #[poolable(max_capacity = 1)]
        bounded: ::std::vec::Vec<u8>,
        #[poolable(default, max_capacity = 1)]
        both: ::std::vec::Vec<u8>,
        #[poolable(skip)]
        skip: u8,
    }

    const fn after<T>(_object: &mut Fields<T>) {}

    const fn judge<T>(object: &Fields<T>) -> ::core::primitive::bool {
        object.skip == 0
    }

    /// An enum.
    #[derive(::pool_core::Poolable, ::core::fmt::Debug)]
    pub enum State {
        /// Fresh.
        #[poolable(initial)]
        Idle(u8),
        /// Not fresh.
        Busy,
    }

    /// An enum that is left in its variant.
    #[derive(::pool_core::Poolable, ::core::fmt::Debug)]
    #[poolable(in_place)]
    pub enum InPlace {
        /// Fresh.
        #[poolable(initial)]
        Idle(u8),
        /// Assigned.
        Busy(
            #[poolable(default = 1)] u8,
            #[poolable(default, max_capacity = 1)] ::std::vec::Vec<u8>,
        ),
        /// Nothing to reset.
        Done,
    }

    /// Traits that are in scope and have the same method names.
    pub trait Confusing {
        /// In the way.
        fn init() -> u8;
        /// In the way.
        fn reset(&self);
        /// In the way.
        fn init_in(&self) {}
        /// In the way.
        fn write(&self) {}
        /// In the way.
        fn is_reusable(&self) {}
    }

    impl<T> Confusing for T {
        fn init() -> u8 {
            0
        }
        fn reset(&self) {}
    }
}

/// Inherent functions of the same names.
pub mod inherent {
    use pool_core::Poolable;

    /// Has its own `init` and `reset`.
    #[derive(Poolable, Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Own(u8);

    impl Own {
        /// Not fresh.
        #[must_use]
        pub const fn init() -> Self {
            Self(9)
        }

        /// Does nothing.
        pub const fn reset(&mut self) {
            self.0 = 9;
        }
    }

    /// Contains one.
    #[derive(Poolable, Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Holds {
        /// Fresh.
        #[poolable(initial)]
        Own(Own),
        /// Not fresh.
        Other,
    }

    #[test]
    fn the_trait_is_asked() {
        assert_eq!(<Own as Poolable>::init(), Own(0));
        let mut holds = Holds::Other;
        holds.reset();
        assert_eq!(holds, Holds::Own(Own(0)));
    }
}

/// A dependency under another name, and one behind a re-export.
pub mod renamed {
    extern crate pool_core as renamed_core;

    /// Brings the whole crate under a path of its own.
    pub mod facade {
        pub use pool_core as pool;
        pub use pool_core::*;
    }

    mod inner {
        /// By the name it has here.
        #[derive(super::renamed_core::Poolable, Debug)]
        #[poolable(crate = crate::renamed::renamed_core, reset_with = |_| ())]
        pub struct ByPath {
            #[poolable(max_capacity = 3)]
            bytes: Vec<u8>,
            #[poolable(default = 7)]
            byte: u8,
        }

        /// As a string.
        #[derive(super::renamed_core::Poolable, Debug)]
        #[poolable(crate = "super::renamed_core")]
        pub struct ByString<T>(T, #[poolable(reset = |field| *field = 0)] u8);

        /// A re-export of the crate.
        #[derive(super::facade::Poolable, Debug)]
        #[poolable(crate = super::facade::pool)]
        pub enum ByReexport<T> {
            /// Fresh.
            #[poolable(initial)]
            Fresh(T),
            /// Not fresh.
            Other,
        }

        /// A module that has all of it.
        #[derive(super::facade::Poolable, Debug)]
        #[poolable(crate = crate::renamed::facade)]
        pub struct ByGlob(Vec<u8>);
    }

    pub use inner::{ByGlob, ByPath, ByReexport, ByString};
}

/// Fields and types that come out of `macro_rules!`.
pub mod by_macro {
    use pool_core::Poolable;

    macro_rules! message {
        (
            $(#[$meta:meta])*
            $name:ident<$param:ident> {
                $($(#[$field_meta:meta])* $field:ident: $ty:ty = $fresh:expr,)*
            }
            in $krate:path, max $max:expr, with $wipe:path, where $bound:literal
        ) => {
            /// Made by a macro.
            $(#[$meta])*
            #[derive(Poolable, Debug)]
            #[poolable(crate = $krate, bound = $bound)]
            pub struct $name<$param> {
                $(
                    $(#[$field_meta])*
                    #[poolable(default = $fresh)]
                    $field: $ty,
                )*
                #[poolable(max_capacity = $max)]
                bytes: Vec<u8>,
                #[poolable(reset = $wipe)]
                wiped: Vec<$param>,
                generic: $param,
                // A name that the caller may use as well.
                hygienic: u8,
            }
        };
    }

    message! {
        /// Documented.
        Message<T> {
            id: u64 = 1 + 2,
            #[cfg(any())]
            absent: Missing = Missing,
            maybe: Option<&'static str> = Some("x"),
            grouped: (u8, [u8; 2]) = (1, [2; 2]),
        }
        in ::pool_core, max 1 << 4, with Vec::clear, where "T: Poolable"
    }

    macro_rules! with_crate {
        ($($field:ident: $ty:ty),*) => {
            /// The fields' types are groups.
            #[derive(Poolable, Debug)]
            pub struct Grouped<T> {
                $(pub(crate) $field: $ty,)*
                /// Of the parameter of the macro's own.
                pub own: T,
            }
        };
    }

    with_crate!(list: Vec<u8>, maybe: Option<String>);

    macro_rules! state {
        ($($variant:ident $(($ty:ty))?),* ; $initial:ident ($fresh:ty)) => {
            /// Made by a macro.
            #[derive(Poolable, Debug)]
            pub enum State {
                $(
                    /// Not fresh.
                    $variant $(($ty))?,
                )*
                /// Fresh.
                #[poolable(initial)]
                $initial($fresh),
            }
        };
    }

    state!(Busy(u8), Failed; Idle(Vec<u8>));

    #[test]
    fn it_works() {
        let mut object = Message::<u8>::init();
        object.id = 9;
        object.wiped.push(1);
        object.bytes.extend_from_slice(&[0; 100]);
        object.hygienic = 1;
        object.reset();
        assert_eq!((object.id, object.hygienic, object.generic), (3, 0, 0));
        assert_eq!((object.maybe, object.grouped), (Some("x"), (1, [2; 2])));
        assert!(object.wiped.is_empty() && object.bytes.capacity() <= 16);
        assert!(matches!(State::init(), State::Idle(_)));
        assert!(Grouped::<u8>::init().list.is_empty());
    }
}

/// Parts that `cfg` takes away or leaves.
pub mod configured {
    use pool_core::Poolable;

    /// Some fields are not there.
    #[derive(Poolable, Debug)]
    pub struct Fields {
        #[cfg(any())]
        absent: Missing,
        #[cfg(feature = "derive")]
        #[poolable(default = 2)]
        present: u8,
        #[cfg_attr(all(), poolable(default = 3))]
        #[cfg_attr(any(), poolable(default = 4))]
        word: u8,
    }

    /// Some variants are not there, which leaves one.
    #[derive(Poolable, Debug)]
    pub enum State {
        /// Fresh.
        #[poolable(initial)]
        Present(#[cfg(any())] Missing, #[cfg(feature = "derive")] u8),
        /// Gone.
        #[cfg(any())]
        Absent(Missing),
    }

    /// A tuple whose numbering shifts.
    #[derive(Poolable, Debug)]
    pub struct Tuple(#[cfg(any())] Missing, #[poolable(default = 5)] u8);

    #[test]
    fn it_works() {
        let fields = Fields::init();
        assert_eq!((fields.present, fields.word, Tuple::init().0), (2, 3, 5));
    }
}

/// Defaults of type and const parameters, bounds and where-clauses of every kind.
pub mod generic {
    use std::fmt::Debug;
    use std::marker::PhantomData;

    use pool_core::Poolable;

    /// Everything at once.
    #[derive(Poolable)]
    #[allow(missing_debug_implementations)]
    pub struct Everything<
        'a,
        'b: 'a,
        T: Debug + 'a,
        U: ?Sized + 'b = str,
        const N: usize = { 2 + 2 },
        const B: bool = true,
    >
    where
        for<'c> &'c T: Debug,
        PhantomData<&'b U>: Sized,
    {
        array: [T; N],
        shared: PhantomData<&'a U>,
        unique: PhantomData<&'b mut T>,
        call: PhantomData<fn(&T) -> &U>,
        #[poolable(default = "")]
        text: &'b str,
        #[poolable(default = |t| t)]
        function: fn(&T) -> &T,
        #[poolable(default = None)]
        #[allow(clippy::type_complexity)]
        dynamic: Option<Box<dyn Fn(&T) + Send>>,
        #[poolable(default = Box::new(3))]
        boxed: Box<u8>,
        #[poolable(default = ())]
        nothing: (),
    }

    #[test]
    fn it_works() {
        let mut object = Everything::<'_, '_, u8>::init();
        object.array[3] = 1;
        object.reset();
        assert_eq!(object.array, [0; 4]);
    }
}
