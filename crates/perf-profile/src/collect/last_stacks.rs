//! The last stack of each thread, which usually shares most callers with the next one.

use perf_abi::{CallchainContext, CpuMode};
use perf_symbols::{StackEnd, StackFrame};

use super::resolver::{Resolver, Versions};
use crate::profile::{EventId, LocationId, ThreadId};

/// The last stacks of some threads. A callchain then costs a comparison, and a lookup for each
/// address that differs.
#[derive(Debug)]
pub(super) struct LastStacks {
    /// By slot number.
    stacks: [LastStack; SLOTS],
    /// The innermost part of a precise sample's callchain, starting with the sample's address.
    exact: Vec<u64>,
}

/// More than most machines have threads that are sampled in turn.
const SLOTS: usize = 64;

/// Index of a last stack, which several threads can share in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot(usize);

/// The origin of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) event: EventId,
    pub(super) thread: ThreadId,
    pub(super) pid: u32,
    pub(super) time: Option<u64>,
}

/// The stack that now occupies a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextStack {
    pub(super) slot: Slot,
    /// Number of outermost frames shared with the previous stack; 0 if its event or thread differs.
    pub(super) kept: usize,
}

/// How a callchain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainEnd {
    pub(super) end: StackEnd,
    /// Number of outermost addresses that are not frames.
    pub(super) left_out: usize,
    /// Number of frames in user space.
    pub(super) user_len: usize,
    /// The interrupted address in user space.
    pub(super) innermost: Option<u64>,
}

#[derive(Debug, Default)]
struct LastStack {
    /// The event and thread, with the versions of their addresses.
    of: Option<(EventId, ThreadId, Versions)>,
    /// Addresses of a callchain, outermost first: user space, then the kernel.
    addresses: Vec<u64>,
    /// Number of addresses in user space.
    user_len: usize,
    /// Locations of all frames, outermost first.
    locations: Vec<LocationId>,
}

impl Slot {
    fn of(event: EventId, thread: ThreadId) -> Self {
        Self(thread.index().wrapping_add(event.index().wrapping_mul(SLOTS / 8 + 1)) % SLOTS)
    }

    pub(super) fn index(self) -> usize {
        self.0
    }
}

impl LastStacks {
    pub(super) fn new() -> Self {
        Self { stacks: std::array::from_fn(|_| LastStack::default()), exact: Vec::new() }
    }

    /// Returns the locations of the last stack, outermost first.
    pub(super) fn locations(&self, slot: Slot) -> &[LocationId] {
        self.stacks.get(slot.0).map_or(&[], |stack| &stack.locations)
    }

    /// Clears all stacks, because their locations or the owner of their frames are gone.
    pub(super) fn clear(&mut self) {
        self.stacks.iter_mut().for_each(LastStack::clear);
    }

    /// Finds the locations of a callchain and its end. For a precise sample they begin at its
    /// address, as in a [`Stack`](perf_symbols::Stack).
    ///
    /// Returns `None` if the callchain is empty, or not kernel addresses followed by user
    /// addresses. Then [`replace`](Self::replace) must be called with its frames.
    pub(super) fn follow(
        &mut self,
        resolver: &mut Resolver,
        source: Source,
        chain: &[u64],
        exact: Option<(CpuMode, u64)>,
    ) -> Option<(NextStack, ChainEnd)> {
        let (kernel, user) = split(chain)?;
        let written = kernel.len() + user.len();
        let Some((mode, address)) = exact else {
            return self.follow_parts(resolver, source, written, kernel, user);
        };
        let interrupted = match mode {
            // The kernel ran after the event, so it was not called by the interrupted user code.
            CpuMode::USER if !has_marker(kernel) => user,
            CpuMode::KERNEL => kernel,
            _ => return None,
        };
        if has_marker(interrupted.get(..1).unwrap_or_default()) {
            return None;
        }
        let mut part = std::mem::take(&mut self.exact);
        part.clear();
        part.push(address);
        part.extend(interrupted.iter().skip(1));
        let next = match mode {
            CpuMode::KERNEL => self.follow_parts(resolver, source, written, &part, user),
            _ => self.follow_parts(resolver, source, written, &[], &part),
        };
        self.exact = part;
        next
    }

    /// Resolves the parts of a callchain with this total number of addresses.
    fn follow_parts(
        &mut self,
        resolver: &mut Resolver,
        source: Source,
        written: usize,
        kernel: &[u64],
        user: &[u64],
    ) -> Option<(NextStack, ChainEnd)> {
        let versions = resolver.versions(source.pid, source.time);
        let slot = Slot::of(source.event, source.thread);
        let last = self.stacks.get_mut(slot.0)?;
        let known = last.count_known(source, versions, user);
        let (user_len, end) = resolver.end_of_user_callchain(source.pid, written, user, versions.user, known);
        let left_out = user.len() - user_len;
        if left_out > 0 && has_marker(user) {
            last.clear();
            return None;
        }
        let user = user.get(..user_len)?;
        let kept = last.keep(source, versions, kernel, user);
        let new_user = user.get(..user.len().saturating_sub(kept))?;
        let new_kernel = kernel.get(..kernel.len().saturating_sub(kept.saturating_sub(user.len())))?;
        if has_marker(new_user) || has_marker(new_kernel) {
            last.clear();
            return None;
        }
        let parts =
            [(CpuMode::USER, versions.user, new_user), (CpuMode::KERNEL, versions.kernel, new_kernel)];
        for (mode, version, addresses) in parts {
            last.addresses.extend(addresses.iter().rev());
            // The innermost address of each part is the interrupted instruction or the system call.
            last.locations.extend(addresses.iter().enumerate().rev().map(|(index, &address)| {
                let frame = StackFrame { mode, address, is_return_address: index > 0 };
                resolver.locate_frame(version, source.pid, source.time, &frame)
            }));
        }
        Some((
            NextStack { slot, kept },
            ChainEnd { end, left_out, user_len, innermost: user.first().copied() },
        ))
    }

    /// Sets the last stack to these locations, which are innermost first.
    pub(super) fn replace(&mut self, source: Source, locations: &[LocationId]) -> NextStack {
        let slot = Slot::of(source.event, source.thread);
        if let Some(last) = self.stacks.get_mut(slot.0) {
            last.clear();
            last.locations.extend(locations.iter().rev());
        }
        NextStack { slot, kept: 0 }
    }
}

impl LastStack {
    fn clear(&mut self) {
        (self.of, self.user_len) = (None, 0);
        self.addresses.clear();
        self.locations.clear();
    }

    /// Returns the number of outermost addresses of a callchain that are also callers in this
    /// stack, so that they are known to be code.
    fn count_known(&self, source: Source, versions: Versions, user: &[u64]) -> usize {
        let is_same =
            self.of.is_some_and(|(_, thread, last)| (thread, last.user) == (source.thread, versions.user));
        // The innermost address can be anything.
        let callers = self.addresses.get(..self.user_len.saturating_sub(1)).filter(|_| is_same);
        callers.map_or(0, |callers| count_same(user, callers))
    }

    /// Keeps the outermost frames that the callchain shares, and returns their number.
    fn keep(&mut self, source: Source, versions: Versions, kernel: &[u64], user: &[u64]) -> usize {
        let kept = match self.of {
            Some((event, thread, last))
                if (event, thread, last.user) == (source.event, source.thread, versions.user) =>
            {
                self.same(kernel, user, last.kernel == versions.kernel)
            }
            _ => 0,
        };
        self.of = Some((source.event, source.thread, versions));
        self.user_len = user.len();
        self.addresses.truncate(kept);
        self.locations.truncate(kept);
        kept
    }

    /// Returns the number of frames that the callchain shares.
    fn same(&self, kernel: &[u64], user: &[u64], is_same_kernel: bool) -> usize {
        let (last_user, last_kernel) = self.addresses.split_at_checked(self.user_len).unwrap_or_default();
        let mut same = count_same(user, last_user);
        if is_same_kernel && (same, same) == (user.len(), last_user.len()) {
            same += count_same(kernel, last_kernel);
        }
        // A caller's address is a return address, an innermost address is not.
        let is_innermost = |user_len: usize, len: usize| same == user_len || same == len;
        let was_innermost = is_innermost(self.user_len, self.addresses.len());
        if is_innermost(user.len(), user.len() + kernel.len()) == was_innermost {
            same
        } else {
            same.saturating_sub(1)
        }
    }
}

/// Returns the number of outermost addresses that two parts share. The second part is outermost
/// first.
fn count_same(part: &[u64], outermost_first: &[u64]) -> usize {
    part.iter().rev().zip(outermost_first).take_while(|(a, b)| a == b).count()
}

/// Splits a callchain into kernel and user addresses, both innermost first. They may contain other
/// markers.
fn split(chain: &[u64]) -> Option<(&[u64], &[u64])> {
    let (first, rest) = chain.split_first()?;
    let parts = match CallchainContext(*first) {
        CallchainContext::USER => (&[][..], rest),
        CallchainContext::KERNEL => {
            let user = rest.iter().position(|&word| word == CallchainContext::USER.0).unwrap_or(rest.len());
            let (kernel, user) = rest.split_at_checked(user)?;
            (kernel, user.get(1..).unwrap_or_default())
        }
        _ => return None,
    };
    (parts != (&[], &[])).then_some(parts)
}

/// Returns true if any word is a context marker.
fn has_marker(words: &[u64]) -> bool {
    words.iter().any(|&word| word >= CallchainContext::MAX.0)
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
    use perf_decode::{RawRecord, Record, SampleLayout};
    use perf_symbols::FileFinder;
    use proptest::prelude::*;

    use super::*;

    /// Words with few different addresses, so that stacks share callers.
    fn words() -> impl Strategy<Value = Vec<u64>> {
        let addresses = || prop::collection::vec(0x1000u64..0x1003, 0..4);
        let (kernel, user) = (CallchainContext::KERNEL.0, CallchainContext::USER.0);
        let usual = (addresses(), addresses(), 0..3).prop_map(move |(mut first, second, form)| {
            let marker = if form == 0 { user } else { kernel };
            first.insert(0, marker);
            if form == 2 {
                first.push(user);
                first.extend(second);
            }
            first
        });
        let deferred = CallchainContext::USER_DEFERRED.0;
        let word = prop_oneof![0x1000u64..0x1003, prop::sample::select(vec![kernel, user, deferred])];
        prop_oneof![8 => usual, 1 => prop::collection::vec(word, 0..5)]
    }

    /// The mode and address of a precise sample.
    fn exact() -> impl Strategy<Value = Option<(CpuMode, u64)>> {
        let mode =
            prop_oneof![4 => Just(CpuMode::USER), 4 => Just(CpuMode::KERNEL), 1 => Just(CpuMode::GUEST_USER)];
        prop::option::weighted(0.4, (mode, 0x1000u64..0x1003))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn callchain_has_the_locations_of_its_stack(
            steps in prop::collection::vec((0u32..3, 0usize..2, words(), 0u32..8, exact()), 0..60)
        ) {
            let fields = SampleType::IP | SampleType::TID | SampleType::CALLCHAIN;
            let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
            let layout = SampleLayout::new(&attr);
            let make = || Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
            let (mut resolver, mut model) = (make(), make());
            let mut last_stacks = LastStacks::new();
            let mut before: [Option<(EventId, ThreadId, Vec<LocationId>)>; SLOTS] = std::array::from_fn(|_| None);
            for (pid, event, chain, change, exact) in steps {
                let is_kernel = change == 1;
                if change < 2 {
                    let (mode, pid) = if is_kernel { (CpuMode::KERNEL, u32::MAX) } else { (CpuMode::USER, pid) };
                    let mmap = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(mode));
                    let mmap = mmap.pair(pid, pid).words(&[0x1000, 0x1001, 0]).string(&[b'a' + chain.len() as u8]).finish();
                    let mmap = RawRecord::from_words(&mmap).unwrap().decode(&layout).unwrap();
                    resolver.update(&mmap);
                    model.update(&mmap);
                }
                let misc = exact.map_or(Misc::empty().with_cpu_mode(CpuMode::USER), |(mode, _)| {
                    Misc::EXACT_IP.with_cpu_mode(mode)
                });
                let ip = exact.map_or(0x1000, |(_, address)| address);
                let sample = SampleBuilder::new(&attr).misc(misc);
                let sample = sample.tid(pid, pid).ip(ip).callchain(&chain).finish();
                let Ok(Record::Sample(sample)) = RawRecord::from_words(&sample).unwrap().decode(&layout) else {
                    panic!("a sample")
                };
                // Threads that use a slot in turn.
                let (event, thread) = (EventId::next(event), ThreadId::next(pid as usize * SLOTS));
                let source = Source { event, thread, pid, time: None };
                let expected = model.resolve(&sample);
                let followed = last_stacks.follow(&mut resolver, source, &chain, exact);
                if let Some((_, found)) = followed {
                    let (end, user_len) = (expected.stack.end(), expected.stack.user().len());
                    let innermost = expected.stack.user().first().map(|frame| frame.address);
                    let left_out = expected.left_out;
                    prop_assert_eq!(found, ChainEnd { end, left_out, user_len, innermost });
                }
                let next = if let Some((next, _)) = followed {
                    next
                } else {
                    let resolved = resolver.resolve(&sample);
                    last_stacks.replace(source, resolved.locations)
                };
                let mut locations = last_stacks.locations(next.slot).to_vec();
                let (kept, found) = (&locations[..next.kept], &mut before[next.slot.index()]);
                if next.kept > 0 {
                    let (last_event, last_thread, last) = found.as_ref().unwrap();
                    prop_assert_eq!((*last_event, *last_thread), (event, thread));
                    prop_assert_eq!(kept, &last[..next.kept]);
                }
                *found = Some((event, thread, locations.clone()));
                locations.reverse();
                prop_assert_eq!(&locations, expected.locations);
            }
        }
    }
}
