//! The interface of decoders.

use std::convert::Infallible;

use super::{Input, Sum, Touch};
use crate::workloads::Workload;

/// A decoder, represented by the value that it keeps for an event: its layout, plan or
/// configuration.
pub trait Decoder: Clone + 'static {
    /// Name in benches: `by-hand`, `plan`, `run-time`, `constant`, or the name of a peer.
    const NAME: &'static str;
    /// Framed record.
    type Raw<'a>: Copy;
    /// Decoded record, with the data from which its trailer is read.
    type Record<'a>;
    type Error;
    type Records<'a>: Iterator<Item = Result<Self::Raw<'a>, Self::Error>>;

    /// Returns the framed records of the input, and the decoder for them.
    fn open(input: &mut Input) -> (Self::Records<'_>, &Self);

    /// Decodes a framed record.
    fn decode<'a>(&'a self, raw: Self::Raw<'a>) -> Result<Self::Record<'a>, Self::Error>;

    /// Adds up the record's fields.
    fn read<W: Workload, T: Touch>(sum: &mut Sum, record: &Self::Record<'_>);
}

/// Iterator over whole records as byte slices, by the simplest safe framing, because the peers do
/// not frame slices.
#[derive(Clone, Copy)]
pub struct Frames<'a>(pub &'a [u8]);

impl<'a> Iterator for Frames<'a> {
    type Item = Result<&'a [u8], ()>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let header = u64::from_ne_bytes(*self.0.first_chunk()?);
        let size = (header >> 48) as usize;
        if size < 8 {
            return None;
        }
        let (record, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(Ok(record))
    }
}

/// The error of the hand-written code, which cannot fail.
pub type Never = Infallible;
