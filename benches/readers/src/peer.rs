use perf_abi::Attr;

use crate::{Sum, Touch, Workload};

/// A decoder of another crate.
pub trait Peer: 'static {
    /// Its crate and version.
    const NAME: &'static str;
    /// Whether it decodes the counts of a group.
    const READS_GROUPS: bool = true;
    /// Its parser or parse configuration.
    type Config: Clone;
    /// A decoded record with what its trailer is read from.
    type Record<'a>;

    /// Returns the configuration for the records of an event with this attr.
    fn config(attr: &Attr) -> Self::Config;

    /// Decodes a whole record; `None` if the crate reports an error.
    fn decode<'a>(frame: &'a [u8], config: &Self::Config) -> Option<Self::Record<'a>>;

    /// Adds up the record's fields.
    fn read<W: Workload, T: Touch>(sum: &mut Sum, record: &Self::Record<'_>);
}
