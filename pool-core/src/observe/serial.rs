//! What `serde` reads and writes: choices by their names, configurations by their fields, handles as
//! the objects they hold.
//!
//! The plain data ([`PoolConfig`](crate::PoolConfig), [`Stats`](crate::Stats)) derives its part where it is defined,
//! and the handles pass it on with `std`'s traits (`handle::forward`); here is what that rests on.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::config::{Backend, Recall, ResetOn};
#[cfg(feature = "std")]
use crate::{handle::Burst, lifecycle::Recycle};

/// Writes a choice by its name, and reads it, whatever its case.
macro_rules! by_name {
    ($Choice:ident) => {
        impl Serialize for $Choice {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $Choice {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Name;

                impl Visitor<'_> for Name {
                    type Value = $Choice;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("one of")?;
                        for (i, choice) in $Choice::ALL.into_iter().enumerate() {
                            let comma = if i > 0 { "," } else { "" };
                            write!(f, "{comma} {choice:?}", choice = choice.name())?;
                        }
                        Ok(())
                    }

                    fn visit_str<E: Error>(self, name: &str) -> Result<$Choice, E> {
                        name.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Name)
            }
        }
    };
}

by_name!(Backend);
by_name!(ResetOn);
by_name!(Recall);

/// Reads the number of objects that a field is, and says which field that is where it is none.
struct Objects {
    field: &'static str,
}

impl<'de> Visitor<'de> for Objects {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` to be a number of objects, 0 to {}",
            self.field,
            usize::MAX
        )
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        match usize::try_from(number) {
            Ok(objects) => Ok(Some(objects)),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        match usize::try_from(number) {
            Ok(objects) => Ok(Some(objects)),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_u64(self)
    }
}

/// The fields of a [`PoolConfig`](crate::PoolConfig) that are numbers of objects.
macro_rules! objects {
    ($($field:ident)*) => {
        pub(crate) mod objects {
            use super::*;

            $(pub(crate) fn $field<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<usize>, D::Error> {
                let field = stringify!($field);
                deserializer.deserialize_option(Objects { field })
            })*
        }
    };
}

objects!(batch_size capacity prefill grow_by max_idle max_waiting);

#[cfg(feature = "std")]
impl<T: Serialize, L: Recycle<T> + ?Sized> Serialize for Burst<T, L> {
    /// As a sequence of its objects.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
