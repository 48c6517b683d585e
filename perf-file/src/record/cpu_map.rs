use crate::bytes::Bytes;
use crate::{List, Result};

/// A set of CPUs.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_cpu_map_data")]
pub struct CpuMap<'a> {
    /// The form in which it is written.
    pub form: CpuMapForm<'a>,
}

/// The forms of a [`CpuMap`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CpuMapForm<'a> {
    /// Numbers of CPUs; 0xffff is any CPU.
    #[doc(alias = "PERF_CPU_MAP__CPUS")]
    List(List<'a, u16>),
    /// A mask of words of 4 bytes, the lowest bit of the first is CPU 0.
    #[doc(alias = "PERF_CPU_MAP__MASK")]
    Mask32(List<'a, u32>),
    /// A mask of words of 8 bytes.
    Mask64(List<'a, u64>),
    /// A range, since Linux 6.1.
    #[doc(alias = "PERF_CPU_MAP__RANGE_CPUS")]
    Range {
        /// Whether any CPU is in the set too.
        any: bool,
        /// The first CPU.
        first: u16,
        /// The last CPU.
        last: u16,
    },
    /// A form that this crate does not know.
    Unknown {
        /// Its number.
        form: u16,
        /// The data after the number.
        data: &'a [u8],
    },
}

impl<'a> CpuMap<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let form = match body.u16("type")? {
            0 => {
                let count = body.u16("nr")?;
                CpuMapForm::List(List::take(body, count.into(), "cpu")?)
            }
            1 => {
                let (words, word_size) = (body.u16("nr")?.into(), body.u16("long_size")?);
                match word_size {
                    4 => CpuMapForm::Mask32(List::take(body, words, "mask")?),
                    8 => {
                        // The mask starts at a multiple of 8 bytes.
                        body.u32("padding")?;
                        CpuMapForm::Mask64(List::take(body, words, "mask")?)
                    }
                    size => return Err(body.unsupported("long_size", size.into())),
                }
            }
            2 => {
                let any = body.u8("any_cpu")? != 0;
                body.u8("padding")?;
                CpuMapForm::Range { any, first: body.u16("start_cpu")?, last: body.u16("end_cpu")? }
            }
            form => CpuMapForm::Unknown { form, data: body.rest() },
        };
        Ok(Self { form })
    }

    /// Iterates over the CPUs; -1 is any CPU. Empty for an unknown form.
    pub fn cpus(&self) -> impl Iterator<Item = i32> + use<'a> {
        // One type of iterator for all forms: each fills its parts of the chain, and leaves the others empty.
        let (mut list, mut words32, mut words64, mut any, mut range) = (None, None, None, None, None);
        match self.form {
            CpuMapForm::List(cpus) => list = Some(cpus),
            CpuMapForm::Mask32(words) => words32 = Some(words),
            CpuMapForm::Mask64(words) => words64 = Some(words),
            CpuMapForm::Range { any: is_any, first, last } => {
                any = is_any.then_some(-1);
                range = Some(i32::from(first)..=i32::from(last));
            }
            CpuMapForm::Unknown { .. } => {}
        }
        let list = list.into_iter().flatten().map(|cpu| if cpu == u16::MAX { -1 } else { cpu.into() });
        let words32 = words32.into_iter().flatten().map(u64::from).zip((0..).step_by(32));
        let words64 = words64.into_iter().flatten().zip((0..).step_by(64));
        let mask = words32.chain(words64).flat_map(|(word, first)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| first + bit)
        });
        any.into_iter().chain(list).chain(mask).chain(range.into_iter().flatten())
    }
}
