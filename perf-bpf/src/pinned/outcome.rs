use core::fmt;

use crate::Difference;

/// The way in which [`PinnedMap::open_or_create`](crate::PinnedMap::open_or_create) got its map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinOutcome {
    /// The pinned map was opened.
    Opened,
    /// Nothing was pinned to the path, and a new map was created.
    Created,
    /// A map with these differences was unpinned, and a new one took its place.
    Replaced(Vec<Difference>),
}

/// One line, such as `replaced: max_entries: expected 64, found 32`.
impl fmt::Display for PinOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened => f.write_str("opened"),
            Self::Created => f.write_str("created"),
            Self::Replaced(differences) => {
                f.write_str("replaced")?;
                let mut separator = ": ";
                for difference in differences {
                    write!(f, "{separator}{difference}")?;
                    separator = "; ";
                }
                Ok(())
            }
        }
    }
}
