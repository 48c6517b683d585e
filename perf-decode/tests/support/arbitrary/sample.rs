//! Samples.

use perf_abi::{Attr, BranchSampleType, Header, Misc, ReadFormat, RecordType, SampleType};
use perf_decode::schema::{ADDR, HEAD, MEM};
use perf_decode::testing::builder::{ReadValue, ReadValues, RecordBuilder, SampleBuilder};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{bytes, trailing, words};

/// A sample as the kernel writes it for events opened with `attr`, sometimes with trailing bytes.
pub(crate) fn sample(attr: Attr) -> impl Strategy<Value = Vec<u64>> {
    (builder(attr), trailing()).prop_map(|(sample, trailing)| sample.trailing(&trailing).finish())
}

/// The fields up to the user stack.
const THROUGH_STACK: SampleType = SampleType::from_bits_retain(0x1_3fff);

/// A sample of a task that has user registers and an empty stack, as the kernel wrongly writes it.
#[derive(Debug)]
pub(crate) struct ShiftedEnd {
    pub(crate) attr: Attr,
    /// With the second word of the stack, so that all fields after it are shifted and the last word
    /// is lost.
    pub(crate) words: Vec<u64>,
    /// The sample with the last word, and with a stack of one word.
    pub(crate) whole: Vec<u64>,
    /// Whether a field follows the stack.
    pub(crate) is_truncated: bool,
}

pub(crate) fn sample_with_shifted_end() -> impl Strategy<Value = ShiftedEnd> {
    super::known_attr().prop_flat_map(sample_with_shifted_end_of)
}

/// The same for events opened with `attr`, and with both parts.
pub(crate) fn sample_with_shifted_end_of(mut attr: Attr) -> impl Strategy<Value = ShiftedEnd> {
    // Neither a register ABI nor a size, so that no other reading of the sample is valid.
    const STACK: u64 = 0x1122_3344_5566_7788;
    attr.sample_type |= SampleType::REGS_USER | SampleType::STACK_USER;
    builder(attr).prop_map(move |sample| {
        let sample = sample.regs_user(2, &[STACK; 64]).stack_user(&STACK.to_ne_bytes(), STACK);
        let whole = sample.finish();
        let mut words = whole.clone();
        let stack = words.windows(3).position(|window| *window == [8, STACK, STACK]).unwrap();
        words.splice(stack..stack + 3, [0, 0]);
        words.pop();
        let header = Header::from_word(words[0]);
        let sample = RecordBuilder::new(RecordType::SAMPLE, header.misc).words(&words[1..]);
        let is_truncated = !THROUGH_STACK.contains(attr.sample_type);
        ShiftedEnd { attr, words: sample.finish(), whole, is_truncated }
    })
}

fn builder(attr: Attr) -> BoxedStrategy<SampleBuilder> {
    (head(attr), counts(attr), branches(attr), registers_and_stack(attr), words(), bytes(40), bytes(40))
        .prop_map(|(builder, counts, branches, registers, callchain, raw, aux)| {
            let Branches { entries, hw_idx, counters } = branches;
            let Registers { user_abi, user, stack, dyn_size, intr_abi, intr } = registers;
            builder
                .read(counts)
                .callchain(&callchain)
                .raw(&raw)
                .branches(&entries, hw_idx, &counters)
                .regs_user(user_abi, &user)
                .stack_user(&stack, dyn_size)
                .regs_intr(intr_abi, &intr)
                .aux(&aux)
        })
        .boxed()
}

/// The words of fixed size.
fn head(attr: Attr) -> impl Strategy<Value = SampleBuilder> {
    let rows = || HEAD.iter().chain(MEM).chain(ADDR);
    (vec(any::<u64>(), rows().count()), any::<u16>()).prop_map(move |(words, misc)| {
        let builder = SampleBuilder::new(&attr).misc(Misc::from_bits_retain(misc));
        rows().zip(words).fold(builder, |builder, (row, word)| builder.word(row.bit, word))
    })
}

/// The counts of an event, or of a group of any size.
pub(super) fn counts(attr: Attr) -> impl Strategy<Value = ReadValues> {
    let sizes = if attr.read_format.contains(ReadFormat::GROUP) { 0..=5 } else { 1..=1 };
    let value = any::<[u64; 3]>().prop_map(|[value, id, lost]| ReadValue { value, id, lost });
    (any::<[u64; 2]>(), vec(value, sizes)).prop_map(|([time_enabled, time_running], values)| ReadValues {
        time_enabled,
        time_running,
        values,
    })
}

#[derive(Debug)]
struct Branches {
    entries: Vec<[u64; 3]>,
    hw_idx: Option<u64>,
    counters: Vec<u64>,
}

/// Branches with the parts that the attr asks for or, as the kernel may write, with the opposite
/// ones.
fn branches(attr: Attr) -> impl Strategy<Value = Branches> {
    let hw_index = attr.branch_sample_type.contains(BranchSampleType::HW_INDEX);
    let asked = attr.branch_sample_type.contains(BranchSampleType::COUNTERS);
    (vec(any::<[u64; 4]>(), 0..5), any::<u64>(), any::<bool>()).prop_map(
        move |(branches, index, contrary)| {
            let hw_idx = hw_index && !(branches.is_empty() && contrary);
            let counters = asked != contrary;
            Branches {
                entries: branches.iter().map(|&[from, to, info, _]| [from, to, info]).collect(),
                hw_idx: hw_idx.then_some(index),
                counters: branches.iter().filter(|_| counters).map(|&[.., counter]| counter).collect(),
            }
        },
    )
}

#[derive(Debug)]
struct Registers {
    user_abi: u64,
    user: Vec<u64>,
    stack: Vec<u8>,
    dyn_size: u64,
    intr_abi: u64,
    intr: Vec<u64>,
}

/// Registers of both kinds, and the stack. The stack is not empty if the task has user registers,
/// because the kernel then writes a sample without its last word.
fn registers_and_stack(attr: Attr) -> impl Strategy<Value = Registers> {
    let values = || vec(any::<u64>(), 64);
    let stack = || (bytes(64), prop_oneof![0..=64_u64, any::<u64>()]);
    (0..=2_u64, values(), stack(), 0..=2_u64, values()).prop_map(
        move |(user_abi, mut user, (mut stack, dyn_size), intr_abi, mut intr)| {
            if user_abi > 0 && attr.sample_type.contains(SampleType::REGS_USER) && stack.is_empty() {
                stack.push(1);
            }
            user.truncate(attr.sample_regs_user.count_ones() as usize * usize::from(user_abi > 0));
            intr.truncate(attr.sample_regs_intr.count_ones() as usize * usize::from(intr_abi > 0));
            Registers { user_abi, user, stack, dyn_size, intr_abi, intr }
        },
    )
}
