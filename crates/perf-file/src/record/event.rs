//! The records that describe events and their ids, and what they count: CPUs, threads, BPF
//! programs, clocks.

use crate::bytes::{Bytes, until_nul};
use crate::error::Result;
use crate::list::{List, LongList, TextField, fields};

fields! {
    /// An id with the event, CPU and thread that it stands for.
    #[doc(alias = "id_index_entry")]
    pub struct IdIndexEntry {
        /// The id, as in the records.
        pub id: u64 = "id",
        /// Index of the ring.
        pub index: u64 = "idx",
        /// CPU, `u64::MAX` for any.
        pub cpu: u64 = "cpu",
        /// Thread, `u64::MAX` for any.
        pub tid: u64 = "tid",
    }

    /// The virtual machine of an id.
    #[doc(alias = "id_index_entry_2")]
    pub struct GuestId {
        /// Process of the virtual machine, 0 for the host.
        pub machine_pid: u64 = "machine_pid",
        /// Virtual CPU.
        pub vcpu: u64 = "vcpu",
    }

    /// A thread and its name.
    #[doc(alias = "perf_record_thread_map_entry")]
    pub struct ThreadMapEntry<'a> {
        /// Its id; `u64::MAX` for all threads.
        pub pid: u64 = "pid",
        /// Its name, empty if unknown.
        pub comm: &'a [u8] = "comm" in TextField<16>,
    }

    /// The variables of a BPF program whose names start with `bpf_metadata_`.
    #[doc(alias = "perf_record_bpf_metadata")]
    pub struct BpfMetadata<'a> {
        /// Name of the program.
        pub program: &'a [u8] = "prog_name" in TextField<512>,
        /// Names and values of the variables `bpf_metadata_*`.
        pub variables: List<'a, BpfVariable<'a>> = "nr_entries" in LongList,
    }

    /// A variable of a BPF program.
    pub struct BpfVariable<'a> {
        /// Name without its prefix.
        pub name: &'a [u8] = "key" in TextField<64>,
        /// Value as text.
        pub value: &'a [u8] = "value" in TextField<256>,
    }
}

/// The CPU and thread of each id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_id_index")]
pub struct IdIndex<'a> {
    /// One entry for each id.
    pub entries: List<'a, IdIndexEntry>,
    /// The virtual machines of the ids, in the same order; empty without virtual machines.
    pub guests: List<'a, GuestId>,
}

impl<'a> IdIndex<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let count = body.u64("nr")?;
        let entries = List::take(body, count, "entries")?;
        let guests = if body.is_empty() { 0 } else { count };
        Ok(Self { entries, guests: List::take(body, guests, "guests")? })
    }
}

/// A property of an event that its attr does not contain: unit, scale, name, CPUs.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_event_update")]
pub struct EventUpdate<'a> {
    /// An id of the event.
    pub id: u64,
    /// The changed property with its new value.
    pub update: Update<'a>,
}

/// The value of an [`EventUpdate`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Update<'a> {
    /// Unit of the scaled count, such as `Joules`.
    #[doc(alias = "PERF_EVENT_UPDATE__UNIT")]
    Unit(&'a [u8]),
    /// Factor of the count.
    #[doc(alias = "PERF_EVENT_UPDATE__SCALE")]
    Scale(f64),
    /// Name.
    #[doc(alias = "PERF_EVENT_UPDATE__NAME")]
    Name(&'a [u8]),
    /// CPUs on which the event is open.
    #[doc(alias = "PERF_EVENT_UPDATE__CPUS")]
    Cpus(CpuMap<'a>),
    /// A value that this crate does not know.
    Unknown {
        /// Number of the kind.
        kind: u64,
        /// The bytes after the header of the update.
        data: &'a [u8],
    },
}

impl<'a> EventUpdate<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let kind = body.u64("type")?;
        let id = body.u64("id")?;
        let update = match kind {
            0 => Update::Unit(until_nul(body.rest())),
            1 => Update::Scale(f64::from_bits(body.u64("scale")?)),
            2 => Update::Name(until_nul(body.rest())),
            3 => Update::Cpus(CpuMap::parse(body)?),
            kind => Update::Unknown { kind, data: body.rest() },
        };
        Ok(Self { id, update })
    }
}

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
        /// Number of the form.
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
        // One type of iterator for all forms: each fills its parts of the chain, and leaves the
        // others empty.
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

/// The parameters that convert time stamps of the CPU to the time of records, as in the kernel's
/// `perf_event_mmap_page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_time_conv")]
pub struct TimeConv {
    /// `time_shift`.
    pub time_shift: u64,
    /// `time_mult`.
    pub time_mult: u64,
    /// `time_zero`, in ns.
    pub time_zero: u64,
    /// The parameters of counters shorter than 64 bits; `None` before Linux 5.10.
    pub short: Option<ShortTime>,
}

/// The parameters of time stamps shorter than 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortTime {
    /// `time_cycles`.
    pub time_cycles: u64,
    /// `time_mask`.
    pub time_mask: u64,
    /// Whether `time_zero` is valid.
    pub cap_user_time_zero: bool,
    /// Whether `time_cycles` and `time_mask` are valid.
    pub cap_user_time_short: bool,
}

impl TimeConv {
    pub(super) fn parse(body: &mut Bytes<'_>) -> Result<Self> {
        let (time_shift, time_mult) = (body.u64("time_shift")?, body.u64("time_mult")?);
        let time_zero = body.u64("time_zero")?;
        let short = if body.is_empty() {
            None
        } else {
            Some(ShortTime {
                time_cycles: body.u64("time_cycles")?,
                time_mask: body.u64("time_mask")?,
                cap_user_time_zero: body.u8("cap_user_time_zero")? != 0,
                cap_user_time_short: body.u8("cap_user_time_short")? != 0,
            })
        };
        Ok(Self { time_shift, time_mult, time_zero, short })
    }
}
