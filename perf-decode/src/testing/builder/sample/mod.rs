//! SAMPLE records.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use perf_abi::{Attr, Misc, RecordType, SampleType};

use super::trailer::word;
use super::{ReadValues, RecordBuilder, words_of};
use crate::schema::{ADDR, HEAD, MEM, Word};

/// A SAMPLE under construction. Fields are set in any order; [`finish`](Self::finish) writes
/// exactly the fields of the attr's `sample_type`, in the kernel's order. A field that was not set
/// is 0 or empty; a field that the attr does not request is left out.
///
/// ```
/// use perf_abi::{Attr, EventType, SampleType};
/// use perf_decode::testing::builder::SampleBuilder;
///
/// let attr = Attr::new(EventType::SOFTWARE, 0).with_sample_type(SampleType::IP.union(SampleType::CALLCHAIN));
/// let record = SampleBuilder::new(&attr).callchain(&[0x10, 0x20]).ip(0x10).time(99).finish();
/// assert_eq!(record[1..], [0x10, 2, 0x10, 0x20]);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SampleBuilder {
    attr: Attr,
    misc: Misc,
    /// The words of fixed size by their bit. One that was not set is 0.
    words: BTreeMap<u64, u64>,
    read: ReadValues,
    callchain: Vec<u64>,
    raw: Vec<u8>,
    branches: Vec<u64>,
    regs_user: Vec<u64>,
    stack_user: Vec<u8>,
    dyn_size: u64,
    regs_intr: Vec<u64>,
    aux: Vec<u8>,
    trailing: Vec<u64>,
}

impl SampleBuilder {
    /// Starts a sample of an event opened with `attr`, all fields 0 or empty.
    pub fn new(attr: &Attr) -> Self {
        Self {
            attr: *attr,
            misc: Misc::empty(),
            words: BTreeMap::new(),
            read: ReadValues::default(),
            callchain: Vec::new(),
            raw: Vec::new(),
            // Without a branch stack, the kernel writes only a count of 0, regardless of the attr.
            branches: alloc::vec![0],
            regs_user: alloc::vec![0],
            stack_user: Vec::new(),
            dyn_size: 0,
            regs_intr: alloc::vec![0],
            aux: Vec::new(),
            trailing: Vec::new(),
        }
    }

    /// Sets `misc` of the header: the CPU mode and whether the ip is exact.
    pub fn misc(self, misc: Misc) -> Self {
        Self { misc, ..self }
    }

    /// Sets the word of fixed size that these bits of `sample_type` record, as
    /// [`schema`](crate::schema) has them.
    pub fn word(mut self, bit: SampleType, word: u64) -> Self {
        self.words.insert(bit.bits(), word);
        self
    }

    /// Sets the process and the thread.
    pub fn tid(self, pid: u32, tid: u32) -> Self {
        self.word(SampleType::TID, word(pid, tid))
    }

    /// Sets the CPU that wrote the record.
    pub fn cpu(self, cpu: u32) -> Self {
        self.word(SampleType::CPU, word(cpu, 0))
    }

    /// Sets the identifier, the id of the opened event as the first field.
    pub fn identifier(self, identifier: u64) -> Self {
        self.word(SampleType::IDENTIFIER, identifier)
    }

    /// Sets the instruction pointer.
    pub fn ip(self, ip: u64) -> Self {
        self.word(SampleType::IP, ip)
    }

    /// Sets the time, in ns of the event's clock.
    pub fn time(self, time: u64) -> Self {
        self.word(SampleType::TIME, time)
    }

    /// Sets the data address.
    pub fn addr(self, addr: u64) -> Self {
        self.word(SampleType::ADDR, addr)
    }

    /// Sets the id of the opened event.
    pub fn id(self, id: u64) -> Self {
        self.word(SampleType::ID, id)
    }

    /// Sets the id of the event or of its inherited copy.
    pub fn stream_id(self, stream_id: u64) -> Self {
        self.word(SampleType::STREAM_ID, stream_id)
    }

    /// Sets the number of events since the previous sample.
    pub fn period(self, period: u64) -> Self {
        self.word(SampleType::PERIOD, period)
    }

    /// Sets the whole word of WEIGHT or `WEIGHT_STRUCT`.
    pub fn weight(self, weight: u64) -> Self {
        self.word(SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT), weight)
    }

    /// Sets the whole word of the data source.
    pub fn data_src(self, data_src: u64) -> Self {
        self.word(SampleType::DATA_SRC, data_src)
    }

    /// Sets the whole word of the transaction abort reason.
    pub fn transaction(self, transaction: u64) -> Self {
        self.word(SampleType::TRANSACTION, transaction)
    }

    /// Sets the physical address.
    pub fn phys_addr(self, phys_addr: u64) -> Self {
        self.word(SampleType::PHYS_ADDR, phys_addr)
    }

    /// Sets the id of the task's cgroup.
    pub fn cgroup(self, cgroup: u64) -> Self {
        self.word(SampleType::CGROUP, cgroup)
    }

    /// Sets the page size of the data address, in bytes.
    pub fn data_page_size(self, data_page_size: u64) -> Self {
        self.word(SampleType::DATA_PAGE_SIZE, data_page_size)
    }

    /// Sets the page size of the instruction pointer, in bytes.
    pub fn code_page_size(self, code_page_size: u64) -> Self {
        self.word(SampleType::CODE_PAGE_SIZE, code_page_size)
    }

    /// Sets the counts, which are written in the attr's `read_format`.
    pub fn read(self, read: ReadValues) -> Self {
        Self { read, ..self }
    }

    /// Sets the callchain, context markers included.
    pub fn callchain(self, ips: &[u64]) -> Self {
        Self { callchain: ips.to_vec(), ..self }
    }

    /// Sets the raw data. Zeros are added until 4 + size is a multiple of 8.
    pub fn raw(self, raw: &[u8]) -> Self {
        Self { raw: raw.to_vec(), ..self }
    }

    /// Sets the branch stack of `[from, to, info]` words. `hw_idx` and `counters`, one word per
    /// branch, are written whatever the attr asks for, because the kernel leaves out the first
    /// without a branch stack and writes the second if any event of the group asks for it.
    pub fn branches(self, entries: &[[u64; 3]], hw_idx: Option<u64>, counters: &[u64]) -> Self {
        let mut branches = alloc::vec![entries.len() as u64];
        branches.extend(hw_idx);
        branches.extend(entries.iter().flatten());
        branches.extend(counters);
        Self { branches, ..self }
    }

    /// Sets the user registers, lowest mask bit first, truncated or filled with 0 to the number of
    /// bits in the attr's mask. ABI 0 has no registers.
    pub fn regs_user(self, abi: u64, values: &[u64]) -> Self {
        Self { regs_user: registers(abi, values, self.attr.sample_regs_user), ..self }
    }

    /// Sets the registers at the interrupt, as [`regs_user`](Self::regs_user).
    pub fn regs_intr(self, abi: u64, values: &[u64]) -> Self {
        Self { regs_intr: registers(abi, values, self.attr.sample_regs_intr), ..self }
    }

    /// Sets the user stack, filled with 0 to a multiple of 8, with `dyn_size` valid bytes. An empty
    /// stack lacks `dyn_size`.
    pub fn stack_user(self, bytes: &[u8], dyn_size: u64) -> Self {
        Self { stack_user: bytes.to_vec(), dyn_size, ..self }
    }

    /// Sets the AUX data, filled with 0 to a multiple of 8.
    pub fn aux(self, aux: &[u8]) -> Self {
        Self { aux: aux.to_vec(), ..self }
    }

    /// Sets the words after the last field, as in a sample that another event of the same kind
    /// enlarged.
    pub fn trailing(self, words: &[u64]) -> Self {
        Self { trailing: words.to_vec(), ..self }
    }

    /// Writes the record.
    #[must_use]
    pub fn finish(self) -> Vec<u64> {
        let parts = [
            (SampleType::READ, self.read.words(self.attr.read_format)),
            (SampleType::CALLCHAIN, counted(&self.callchain)),
            (SampleType::RAW, raw(&self.raw)),
            (SampleType::BRANCH_STACK, self.branches.clone()),
            (SampleType::REGS_USER, self.regs_user.clone()),
            (SampleType::STACK_USER, stack(&self.stack_user, self.dyn_size)),
        ];
        let regs_intr = (SampleType::REGS_INTR, self.regs_intr.clone());
        let aux = (SampleType::AUX, sized(&self.aux));
        let fields = self.fixed(HEAD).chain(parts);
        let fields = fields.chain(self.fixed(MEM)).chain([regs_intr]).chain(self.fixed(ADDR)).chain([aux]);
        let asked = fields.filter(|(bits, _)| self.attr.sample_type.intersects(*bits));
        let words: Vec<u64> = asked.flat_map(|(_, words)| words).collect();
        RecordBuilder::new(RecordType::SAMPLE, self.misc).words(&words).words(&self.trailing).finish()
    }

    /// Returns the words of these rows, each with its bits.
    fn fixed(&self, rows: &'static [Word]) -> impl Iterator<Item = (SampleType, Vec<u64>)> {
        let word = |row: &Word| self.words.get(&row.bit.bits()).copied().unwrap_or(0);
        rows.iter().map(move |row| (row.bit, alloc::vec![word(row)]))
    }
}

fn registers(abi: u64, values: &[u64], mask: u64) -> Vec<u64> {
    let count = if abi == 0 { 0 } else { mask.count_ones() as usize };
    let mut words = alloc::vec![abi];
    words.extend(values);
    words.resize(1 + count, 0);
    words
}

fn counted(words: &[u64]) -> Vec<u64> {
    let mut out = alloc::vec![words.len() as u64];
    out.extend(words);
    out
}

/// Returns the size in bytes, padding included, and the bytes.
fn sized(bytes: &[u8]) -> Vec<u64> {
    let mut out = alloc::vec![bytes.len().next_multiple_of(8) as u64];
    out.extend(words_of(bytes));
    out
}

/// Returns the same as [`sized`] with the size in the first half of a word and the bytes from the
/// second on.
fn raw(raw: &[u8]) -> Vec<u64> {
    let size = (4 + raw.len()).next_multiple_of(8) - 4;
    let mut bytes = (size as u32).to_ne_bytes().to_vec();
    bytes.extend_from_slice(raw);
    words_of(&bytes)
}

fn stack(bytes: &[u8], dyn_size: u64) -> Vec<u64> {
    let mut out = sized(bytes);
    if !bytes.is_empty() {
        out.push(dyn_size);
    }
    out
}
