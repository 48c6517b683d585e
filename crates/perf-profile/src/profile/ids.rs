//! Indices into the tables of a profile.

/// Defines the type of an index.
macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Returns the index, from 0 in insertion order.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            #[allow(dead_code, reason = "only some tables have compact entries")]
            pub(crate) const fn number(self) -> u32 {
                self.0
            }

            /// Returns the index of the next entry in a table of `len` entries. A table with 2^32 -
            /// 1 entries would need more than 64 GiB; its last index stands for all further
            /// entries.
            pub(crate) fn next(len: usize) -> Self {
                Self(u32::try_from(len).unwrap_or(u32::MAX))
            }
        }
    };
}

id!(
    /// A string of [`Locations`](super::Locations).
    StringId
);
id!(
    /// An [`Object`](super::Object) of [`Locations`](super::Locations).
    ObjectId
);
id!(
    /// A [`Function`](super::Function) of [`Locations`](super::Locations).
    FunctionId
);
id!(
    /// A [`Location`](super::Location) of [`Locations`](super::Locations).
    LocationId
);
id!(
    /// A stack of a [`Profile`](super::Profile): its innermost location, and the stack of the
    /// caller.
    StackId
);
id!(
    /// A [`Thread`](super::Thread) of a [`Profile`](super::Profile).
    ThreadId
);
id!(
    /// An [`Event`](super::Event) of a [`Profile`](super::Profile).
    EventId
);
