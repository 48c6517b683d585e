use core::fmt;

use crate::Difference;
use crate::error::write_differences;

/// The way in which [`PinnedMap::open_or_create`](crate::PinnedMap::open_or_create) got its map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinOutcome {
    /// The pinned map was opened.
    Opened,
    /// The pinned map was opened although it has these differences:
    /// [`IfDifferent::Open`].
    Accepted(Vec<Difference>),
    /// Nothing was pinned to the path, and a new map was created.
    Created,
    /// A new map took the place of one with these differences, whose elements were not moved:
    /// [`IfDifferent::Replace`].
    Replaced(Vec<Difference>),
    /// A new map with the elements took the place of one with these differences:
    /// [`IfDifferent::Move`].
    Moved(Vec<Difference>, MoveStats),
}

/// The treatment of a pinned map that has other properties than the spec, for
/// [`PinnedMap::open_or_create_with`](crate::PinnedMap::open_or_create_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IfDifferent {
    /// Return [`Error::Differs`](crate::Error::Differs), which has the pinned map.
    Refuse,
    /// Open the pinned map as it is.
    Open,
    /// Replace it by a new map, without its elements.
    Replace,
    /// Replace it by a new map with its elements. If that is not possible, it is
    /// [`Refuse`](Self::Refuse): the types of key and value have other sizes than the pinned map,
    /// or one of the two maps is of a type whose elements cannot be written as they were read.
    Move,
}

/// The elements that [`IfDifferent::Move`] moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoveStats {
    /// Elements that the new map has.
    pub moved: u64,
    /// Elements that the new map refused or evicted, usually because it is smaller.
    pub unmoved: u64,
    /// Whether all elements of the old map were read, as
    /// [`DumpStats::complete`](crate::DumpStats::complete).
    pub complete: bool,
}

/// One line, such as `replaced: max_entries: expected 64, found 32`.
impl fmt::Display for PinOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened => f.write_str("opened"),
            Self::Created => f.write_str("created"),
            Self::Accepted(differences) => {
                f.write_str("opened")?;
                write_differences(f, differences)
            }
            Self::Replaced(differences) => {
                f.write_str("replaced")?;
                write_differences(f, differences)
            }
            Self::Moved(differences, stats) => {
                write!(f, "replaced, {stats}")?;
                write_differences(f, differences)
            }
        }
    }
}

/// `12 elements moved, 3 not`.
impl fmt::Display for MoveStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { moved, unmoved, complete } = self;
        write!(f, "{moved} elements moved, {unmoved} not")?;
        if *complete { Ok(()) } else { f.write_str(", and some may not have been found") }
    }
}
