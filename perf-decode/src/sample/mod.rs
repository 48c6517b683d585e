//! Samples: a view that is checked once and reads its fields when asked.

use core::ops::Deref;

use perf_abi::mem::DataSource;
use perf_abi::{SampleType, Transaction, Weight};

use crate::order::{self, Assume, Fault, NotWhole, Starts, walk};
use crate::slot::Slot;
use crate::{Error, RawRecord, ReadValues, Result, SampleLayout, word};

mod branches;
mod callchain;
mod fields;
mod head;
mod regs;
mod stack;

pub use branches::Branches;
pub use callchain::{Callchain, Frame, Frames};
pub use fields::{Field, Fields};
pub use head::SampleHead;
pub use regs::Regs;
pub use stack::UserStack;

/// A sample, checked from its first word to its last.
///
/// Holding one proves that every field of the layout lies inside the record and that together they are
/// all of it. So an accessor never fails and takes no time that depends on the sample: `None` means
/// only that the event does not sample the field.
///
/// The nine fields of fixed place are [`SampleHead`]'s, which this derefs to.
#[doc(alias = "PERF_RECORD_SAMPLE")]
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    head: SampleHead<'a>,
    starts: Starts,
}

impl<'a> Sample<'a> {
    /// Checks a SAMPLE record against the layout of its event.
    ///
    /// Inlined into the caller, so that a layout which is a constant there folds away. [`RawRecord::decode`]
    /// calls it for records of that kind; call it directly where nothing else can come.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownSampleType`], [`Error::Truncated`], [`Error::Invalid`] or [`Error::Surplus`].
    #[inline(always)]
    pub fn parse(raw: RawRecord<'a>, layout: &'a SampleLayout) -> Result<Self> {
        let head = SampleHead::parse(raw, layout)?;
        let words = raw.words();
        if layout.head_only && words.len() == usize::from(layout.head_words) {
            return Ok(Self { head, starts: Starts::default() });
        }
        match walk::<NotWhole>(words, layout, Assume::Attr) {
            Ok(starts) => Ok(Self { head, starts }),
            // Where no second look can succeed, the compiler shall know it: the starts of a constant layout
            // are constants then.
            Err(NotWhole) if !layout.sample_type().contains(SampleType::BRANCH_STACK) => {
                Err(refuse(words, layout))
            }
            Err(NotWhole) => walk_again(words, layout).map(|starts| Self { head, starts }),
        }
    }

    /// The words from the start of a part on, if the event samples it.
    #[inline]
    fn part(&self, start: Slot) -> Option<&'a [u64]> {
        self.words().get(start.index()..)
    }

    /// A word of a run of fixed words.
    #[inline]
    fn fixed(&self, start: Slot, field: Slot) -> Option<u64> {
        self.words().get(start.index() + field.index()).copied()
    }

    /// The counts of the event or its group at the time of the sample.
    #[inline]
    #[must_use]
    pub fn read(&self) -> Option<ReadValues<'a>> {
        let layout = self.layout();
        let block = self.words().get(usize::from(layout.head_words)..self.starts.read_end.index())?;
        ReadValues::checked(block, layout.read)
    }

    /// The addresses that led to the sample, innermost first.
    #[inline]
    #[must_use]
    pub fn callchain(&self) -> Option<Callchain<'a>> {
        let (&nr, rest) = self.part(self.starts.callchain)?.split_first()?;
        rest.get(..nr as usize).map(Callchain::new)
    }

    /// Raw data: the payload of a tracepoint or what a BPF program wrote.
    ///
    /// The length includes up to 7 bytes of padding that is not cleared: the kernel keeps no other. The
    /// bytes start in the middle of a word, so they are 4-aligned.
    #[inline]
    #[must_use]
    pub fn raw(&self) -> Option<&'a [u8]> {
        let words = self.part(self.starts.raw)?;
        let [size, _] = word::halves(*words.first()?);
        word::bytes(words).get(4..)?.get(..size as usize)
    }

    /// The branches that led to the sample, newest first (since Linux 3.4).
    #[inline]
    #[must_use]
    pub fn branches(&self) -> Option<Branches<'a>> {
        Branches::new(self.part(self.starts.branches)?, self.starts.branch_parts)
    }

    /// The user's registers at the kernel's entry (since Linux 3.7).
    #[inline]
    #[must_use]
    pub fn regs_user(&self) -> Option<Regs<'a>> {
        Regs::new(self.part(self.starts.regs_user)?, self.layout().regs_user())
    }

    /// The user stack from the stack pointer upwards (since Linux 3.7).
    #[inline]
    #[must_use]
    pub fn stack_user(&self) -> Option<UserStack<'a>> {
        UserStack::new(self.part(self.starts.stack_user)?)
    }

    /// What the sampled access cost: one number (since Linux 3.10), or with `WEIGHT_STRUCT` three (since
    /// 5.12).
    #[inline]
    #[must_use]
    pub fn weight(&self) -> Option<Weight> {
        self.fixed(self.starts.cost, self.layout().cost.weight).map(Weight)
    }

    /// Where the data of the sampled access came from (since Linux 3.10).
    #[inline]
    #[must_use]
    pub fn data_src(&self) -> Option<DataSource> {
        self.fixed(self.starts.cost, self.layout().cost.data_src).map(DataSource)
    }

    /// Why a hardware transaction ended (since Linux 3.13).
    #[inline]
    #[must_use]
    pub fn transaction(&self) -> Option<Transaction> {
        self.fixed(self.starts.cost, self.layout().cost.transaction).map(Transaction::from_bits_retain)
    }

    /// The registers where the event interrupted, which may be in the kernel (since Linux 3.19).
    #[inline]
    #[must_use]
    pub fn regs_intr(&self) -> Option<Regs<'a>> {
        Regs::new(self.part(self.starts.regs_intr)?, self.layout().regs_intr())
    }

    /// Physical address of the data; 0 if it is not known (since Linux 4.14).
    #[inline]
    #[must_use]
    pub fn phys_addr(&self) -> Option<u64> {
        self.fixed(self.starts.place, self.layout().place.phys_addr)
    }

    /// Id of the task's control group: the inode of its directory (since Linux 5.7).
    #[inline]
    #[must_use]
    pub fn cgroup(&self) -> Option<u64> {
        self.fixed(self.starts.place, self.layout().place.cgroup)
    }

    /// Size in bytes of the page that the data is on; 0 if it is not known (since Linux 5.11).
    #[inline]
    #[must_use]
    pub fn data_page_size(&self) -> Option<u64> {
        self.fixed(self.starts.place, self.layout().place.data_page_size)
    }

    /// Size in bytes of the page that the instruction is on; 0 if it is not known (since Linux 5.11).
    #[inline]
    #[must_use]
    pub fn code_page_size(&self) -> Option<u64> {
        self.fixed(self.starts.place, self.layout().place.code_page_size)
    }

    /// A piece of the AUX area, padded with zeros to whole words (since Linux 5.5).
    #[inline]
    #[must_use]
    pub fn aux(&self) -> Option<&'a [u8]> {
        let (&size, rest) = self.part(self.starts.aux)?.split_first()?;
        word::bytes(rest).get(..size as usize)
    }

    /// All fields of the sample in the order in which they lie in the record.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        Fields::new(*self)
    }
}

impl<'a> Deref for Sample<'a> {
    type Target = SampleHead<'a>;

    #[inline]
    fn deref(&self) -> &SampleHead<'a> {
        &self.head
    }
}

impl core::fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.fields()).finish()
    }
}

/// The second look at a sample that is not whole: whether its branch stack has the other of two possible
/// lengths.
#[cold]
#[inline(never)]
fn walk_again(words: &[u64], layout: &SampleLayout) -> Result<Starts> {
    walk::<NotWhole>(words, layout, Assume::Other).map_err(|NotWhole| refuse(words, layout))
}

/// What is wrong with a sample that is not whole.
#[cold]
#[inline(never)]
fn refuse(words: &[u64], layout: &SampleLayout) -> Error {
    match walk::<Error>(words, layout, Assume::Attr) {
        Err(error) => error,
        // Cannot be: the same walk failed before.
        Ok(_) => Error::surplus(0),
    }
}

/// The error of a sample that ends within its head, or whose layout is not known.
#[cold]
#[inline(never)]
fn refuse_head(words: &[u64], layout: &SampleLayout) -> Error {
    match layout.unknown() {
        0 => Error::missing(&order::HEAD, layout.sample_type(), (words.len() as u64).saturating_sub(1)),
        bits => Error::UnknownSampleType { bits },
    }
}

#[cfg(test)]
mod tests;
