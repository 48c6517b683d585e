//! Stacks from callchains, recorded calls and deferred records.

use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use perf_decode::{RawRecord, Record, SampleLayout};
use proptest::prelude::*;

use super::*;

const KERNEL: u64 = CallchainContext::KERNEL.0;
const USER: u64 = CallchainContext::USER.0;
const DEFERRED: u64 = CallchainContext::USER_DEFERRED.0;

fn attr(fields: SampleType) -> Attr {
    Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::CALLCHAIN | fields)
}

fn fill(stack: &mut Stack, attr: &Attr, sample: SampleBuilder) {
    let layout = SampleLayout::new(attr);
    let words = sample.finish();
    let record = RawRecord::from_words(&words).expect("a framed record").decode(&layout);
    let Record::Sample(sample) = record.expect("a valid record") else { panic!("a sample") };
    stack.fill(&sample);
}

fn stack_of(mode: CpuMode, ip: u64, chain: &[u64]) -> Stack {
    let attr = attr(SampleType::empty());
    let sample = SampleBuilder::new(&attr).misc(Misc::empty().with_cpu_mode(mode)).ip(ip).callchain(chain);
    let mut stack = Stack::new();
    fill(&mut stack, &attr, sample);
    stack
}

/// The stack of a precise sample.
fn exact_stack_of(mode: CpuMode, ip: u64, chain: &[u64]) -> Stack {
    let attr = attr(SampleType::empty());
    let misc = Misc::EXACT_IP.with_cpu_mode(mode);
    let mut stack = Stack::new();
    fill(&mut stack, &attr, SampleBuilder::new(&attr).misc(misc).ip(ip).callchain(chain));
    stack
}

fn add_deferred(stack: &mut Stack, cookie: u64, ips: &[u64]) -> bool {
    let layout = SampleLayout::new(&attr(SampleType::empty()));
    let count = ips.len() as u64;
    let words = RecordBuilder::new(RecordType::CALLCHAIN_DEFERRED, Misc::empty())
        .words(&[cookie, count])
        .words(ips)
        .finish();
    let record = RawRecord::from_words(&words).expect("a framed record").decode(&layout);
    let Record::CallchainDeferred(user) = record.expect("a valid record") else { panic!("deferred") };
    stack.add_deferred(&user)
}

/// Frames as text: the mode, the address, and `<` for a return address.
fn text(frames: &[StackFrame]) -> String {
    let one = |frame: &StackFrame| {
        let mark = if frame.is_return_address { "<" } else { "" };
        format!("{} {:x}{mark}", frame.mode, frame.address)
    };
    frames.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn first_address_of_each_part_is_no_return_address() {
    let stack = stack_of(CpuMode::KERNEL, 1, &[KERNEL, 0x10, 0x20, USER, 0x1000, 0x2000]);
    assert_eq!(text(stack.kernel()), "KERNEL 10, KERNEL 20<");
    assert_eq!(text(stack.user()), "USER 1000, USER 2000<");
    assert_eq!((stack.user_source(), stack.end()), (UserSource::Callchain, StackEnd::Unknown));
    assert_eq!(
        stack.frames().iter().map(StackFrame::lookup_address).collect::<Vec<_>>(),
        [0x10, 0x1f, 0x1000, 0x1fff]
    );
}

#[test]
fn sample_without_callchain_is_its_address() {
    let stack = stack_of(CpuMode::USER, 0x1000, &[]);
    assert_eq!((text(stack.user()), stack.user_source()), ("USER 1000".to_string(), UserSource::Address));
    assert_eq!(stack.end(), StackEnd::AddressOnly);
    let stack = stack_of(CpuMode::KERNEL, 0x10, &[KERNEL]);
    assert_eq!((text(stack.kernel()), stack.user_source()), ("KERNEL 10".to_string(), UserSource::None));
}

#[test]
fn stack_of_a_precise_sample_begins_at_its_address() {
    let [kernel, user] = [CpuMode::KERNEL, CpuMode::USER];
    for (mode, ip, chain, expected) in [
        // The interrupt came later, in the same function or another one.
        (user, 0x1000, &[USER, 0x1010, 0x2000][..], "USER 1000, USER 2000<"),
        (user, 0x1000, &[USER, 0x1000, 0x2000], "USER 1000, USER 2000<"),
        (
            kernel,
            0x10,
            &[KERNEL, 0x18, 0x20, USER, 0x1000, 0x2000],
            "KERNEL 10, KERNEL 20<, USER 1000, USER 2000<",
        ),
        // The interrupt came after the system call or fault: user code did not call the kernel.
        (user, 0x1000, &[KERNEL, 0x18, 0x20, USER, 0x1010, 0x2000], "USER 1000, USER 2000<"),
        (user, 0x1000, &[KERNEL, 0x18, 0x20], "USER 1000"),
        // The interrupt came after the return from the kernel.
        (kernel, 0x10, &[USER, 0x1010, 0x2000], "KERNEL 10, USER 1010, USER 2000<"),
        (kernel, 0x10, &[], "KERNEL 10"),
    ] {
        let stack = exact_stack_of(mode, ip, chain);
        assert_eq!(text(stack.frames()), expected);
        let is_user = |frame: &StackFrame| frame.mode == CpuMode::USER;
        assert!(stack.user().iter().all(is_user) && !stack.kernel().iter().any(is_user), "{expected}");
    }
    assert_eq!(exact_stack_of(user, 0x1000, &[KERNEL, 0x18]).user_source(), UserSource::Address);
    assert_eq!(exact_stack_of(user, 0x1000, &[USER, 0x1010]).user_source(), UserSource::Callchain);
}

#[test]
fn callchain_of_a_precise_sample_is_cut_by_the_addresses_that_the_kernel_wrote() {
    let attr = attr(SampleType::empty());
    let misc = Misc::EXACT_IP.with_cpu_mode(CpuMode::USER);
    let mut stack = Stack::new().with_max_stack(4);
    fill(
        &mut stack,
        &attr,
        SampleBuilder::new(&attr).misc(misc).ip(1).callchain(&[KERNEL, 7, 8, USER, 2, 3]),
    );
    assert_eq!(
        (text(stack.frames()), stack.end()),
        ("USER 1, USER 3<".into(), StackEnd::Limit { max_stack: 4 })
    );
}

#[test]
fn later_parts_of_a_precise_sample_begin_at_its_address_too() {
    let mut stack = exact_stack_of(CpuMode::USER, 0x1000, &[KERNEL, 0x18, DEFERRED, 7]);
    assert_eq!((text(stack.frames()), stack.end()), ("USER 1000".into(), StackEnd::Deferred { cookie: 7 }));
    assert!(add_deferred(&mut stack, 7, &[0x1010, 0x2000]));
    assert_eq!(text(stack.frames()), "USER 1000, USER 2000<");
    let mut stack = exact_stack_of(CpuMode::KERNEL, 0x10, &[KERNEL, 0x18, DEFERRED, 7]);
    assert!(add_deferred(&mut stack, 7, &[0x1010, 0x2000]));
    assert_eq!(text(stack.frames()), "KERNEL 10, USER 1010, USER 2000<");
    // With calls that the CPU recorded.
    let with_calls = attr(SampleType::BRANCH_STACK)
        .with_branch_sample_type(BranchSampleType::USER | BranchSampleType::CALL_STACK);
    let sample = SampleBuilder::new(&with_calls).misc(Misc::EXACT_IP.with_cpu_mode(CpuMode::USER)).ip(0x1000);
    let calls = [[0x2005, 0x1000, 0], [0x3005, 0x2000, 0]];
    fill(&mut stack, &with_calls, sample.callchain(&[KERNEL, 0x18]).branches(&calls, None, &[]));
    assert_eq!(text(stack.frames()), "USER 1000, USER 2005, USER 3005");
}

#[test]
fn guest_and_hypervisor_precede_user_space() {
    let [guest_kernel, guest_user, hypervisor] =
        [CallchainContext::GUEST_KERNEL, CallchainContext::GUEST_USER, CallchainContext::HV]
            .map(|marker| marker.0);
    let chain = [guest_kernel, 1, guest_user, 2, 3, USER, 4, hypervisor, 5, !0, 6];
    let stack = stack_of(CpuMode::USER, 0, &chain);
    let kernel = "GUEST_KERNEL 1, GUEST_USER 2, GUEST_USER 3<, HYPERVISOR 5, UNKNOWN 6";
    assert_eq!(text(stack.kernel()), kernel);
    assert_eq!(text(stack.user()), "USER 4");
}

#[test]
fn callchain_with_all_addresses_that_the_kernel_permits_is_cut() {
    let chain = [KERNEL, 1, USER, 2, 3];
    let attr = attr(SampleType::empty());
    // A callchain longer than the limit was not cut off by the kernel.
    for (max_stack, end) in
        [(3, StackEnd::Limit { max_stack: 3 }), (4, StackEnd::Unknown), (2, StackEnd::Unknown)]
    {
        let mut stack = Stack::new().with_max_stack(max_stack);
        fill(&mut stack, &attr, SampleBuilder::new(&attr).callchain(&chain));
        assert_eq!(stack.end(), end);
    }
}

#[test]
fn deferred_user_part_belongs_to_the_stack_with_its_cookie() {
    let mut stack = stack_of(CpuMode::USER, 0x1000, &[DEFERRED, 7]);
    assert_eq!((text(stack.frames()), stack.end()), ("USER 1000".into(), StackEnd::Deferred { cookie: 7 }));
    assert!(!add_deferred(&mut stack, 8, &[1]));
    assert!(add_deferred(&mut stack, 7, &[0x1000, 0x2000]));
    assert_eq!((text(stack.frames()), stack.end()), ("USER 1000, USER 2000<".into(), StackEnd::Unknown));
    assert_eq!(stack.user_source(), UserSource::Deferred);
    assert!(!add_deferred(&mut stack, 7, &[1]), "a second one");
    let mut stack = stack_of(CpuMode::KERNEL, 1, &[KERNEL, 0x10, DEFERRED, 7]);
    assert!(add_deferred(&mut stack, 7, &[0x1000]));
    assert_eq!(text(stack.frames()), "KERNEL 10, USER 1000");
}

#[test]
fn recorded_calls_take_the_place_of_a_shorter_user_callchain() {
    let calls = [[0x2005, 0x1000, 0], [0x3005, 0x2000, 0], [0, 0, 0]];
    let fields = SampleType::BRANCH_STACK;
    let with_calls =
        attr(fields).with_branch_sample_type(BranchSampleType::USER | BranchSampleType::CALL_STACK);
    let any = attr(fields).with_branch_sample_type(BranchSampleType::USER | BranchSampleType::ANY);
    let sample =
        |attr: &Attr, chain: &[u64]| SampleBuilder::new(attr).callchain(chain).branches(&calls, None, &[]);
    let mut stack = Stack::new();
    for (attr, chain, frames, source) in [
        (with_calls, &[USER, 0x1010, 0x9999][..], "USER 1010, USER 2005, USER 3005", UserSource::Branches),
        (with_calls, &[KERNEL, 0x10], "KERNEL 10, USER 1000, USER 2005, USER 3005", UserSource::Branches),
        (with_calls, &[USER, 1, 2, 3], "USER 1, USER 2<, USER 3<", UserSource::Callchain),
        (any, &[USER, 1], "USER 1", UserSource::Callchain),
    ] {
        fill(&mut stack, &attr, sample(&attr, chain));
        assert_eq!((text(stack.frames()), stack.user_source()), (frames.to_string(), source));
    }
    // The deferred part has the same number of calls, and the kernel's is preferred.
    let user = Misc::empty().with_cpu_mode(CpuMode::USER);
    fill(&mut stack, &with_calls, sample(&with_calls, &[DEFERRED, 7]).misc(user).ip(0x1010));
    assert_eq!(stack.user_source(), UserSource::Branches);
    assert!(add_deferred(&mut stack, 7, &[0x1010, 0x200a, 0x300a]));
    assert_eq!(text(stack.frames()), "USER 1010, USER 200a<, USER 300a<");
}

/// A process with code at 0x1000 and data at 0x9000.
fn spaces() -> AddressSpaces {
    let layout = SampleLayout::new(&attr(SampleType::empty()));
    let mut spaces = AddressSpaces::new();
    for (start, misc) in [(0x1000, Misc::empty()), (0x9000, Misc::MMAP_DATA)] {
        let mmap = RecordBuilder::new(RecordType::MMAP, misc.with_cpu_mode(CpuMode::USER)).pair(7, 7);
        let words = mmap.words(&[start, 0x1000, 0]).string(b"/bin/a").finish();
        spaces.update(&RawRecord::from_words(&words).expect("framed").decode(&layout).expect("valid"));
    }
    spaces
}

#[test]
fn addresses_from_the_first_without_code_on_are_left_out() {
    let (spaces, end) = (spaces(), StackEnd::Unknown);
    let nowhere = StackEnd::NoFramePointer;
    for (chain, kept, end) in [
        (&[USER, 0x1000, 0x1010, 0x1020][..], 3, end),
        (&[USER, 0x1000, 0x1010, 0x5000, 0x6000], 2, nowhere),
        (&[USER, 0x1000, 0x5000], 1, nowhere),
        // The address before it is in code, as after the last call in a function.
        (&[USER, 0x1000, 0x2000], 2, end),
        (&[USER, 0x1000, 0x2001], 1, nowhere),
        (&[USER, 0x1000, 0x1010, 0x9010], 2, nowhere),
        // The words after a wrong address come from it, so that they are wrong, too.
        (&[USER, 0x1000, 0x5000, 0x1010], 1, nowhere),
        // The interrupted address is always right.
        (&[USER, 0x5000], 1, end),
        (&[USER, 0x5000, 0x6000], 1, nowhere),
        (&[KERNEL, 0x10, 0x20, USER, 0x1000, 0x5000], 3, nowhere),
        (&[KERNEL, 0x10, 0x20], 2, end),
    ] {
        let whole = stack_of(CpuMode::USER, 1, chain);
        let mut stack = whole.clone();
        let left_out = stack.leave_out_unmapped(&spaces, 7);
        assert_eq!(stack.frames(), &whole.frames()[..kept], "{chain:x?}");
        assert_eq!((left_out, stack.end()), (whole.frames().len() - kept, end), "{chain:x?}");
        // The mappings of another process are unknown.
        let mut other = whole.clone();
        assert_eq!((other.leave_out_unmapped(&spaces, 8), other), (0, whole), "{chain:x?}");
    }
}

#[test]
fn frame_pointer_that_points_to_itself_is_left_out_and_a_recursion_stays() {
    let spaces = spaces();
    let filled = |kernel: &[u64], user: &[u64], last: u64, max_stack: u16| {
        let rest = usize::from(max_stack) - kernel.len() - user.len();
        let chain = [&[KERNEL][..], kernel, &[USER], user, &vec![last; rest]].concat();
        let attr = attr(SampleType::empty());
        let mut stack = Stack::new().with_max_stack(max_stack);
        fill(&mut stack, &attr, SampleBuilder::new(&attr).callchain(&chain));
        let left_out = stack.leave_out_unmapped(&spaces, 7);
        assert_eq!(left_out + stack.frames().len(), usize::from(max_stack));
        (stack.frames().len(), stack.end())
    };
    for max_stack in [127, 1024] {
        let limit = StackEnd::Limit { max_stack };
        assert_eq!(filled(&[0x10, 0x20], &[0x1000], 0x5000, max_stack), (3, StackEnd::FramePointerLoop));
        assert_eq!(filled(&[], &[0x1000, 0x1010], 0x5000, max_stack), (2, StackEnd::FramePointerLoop));
        // The elements of a linked list.
        assert_eq!(filled(&[], &[0x1000, 0x5010], 0x5000, max_stack), (1, StackEnd::NoFramePointer));
        assert_eq!(filled(&[], &[0x1000, 0x5000], 0x1010, max_stack), (1, StackEnd::NoFramePointer));
        // A recursive function, up to the kernel's limit.
        assert_eq!(filled(&[], &[0x1000, 0x1010], 0x1020, max_stack), (usize::from(max_stack), limit));
    }
    // A callchain below the limit was not filled by a loop.
    let mut stack = stack_of(CpuMode::USER, 1, &[USER, 0x1000, 0x5000, 0x5000, 0x5000, 0x5000]);
    stack.leave_out_unmapped(&spaces, 7);
    assert_eq!((stack.frames().len(), stack.end()), (1, StackEnd::NoFramePointer));
}

#[test]
fn addresses_of_a_deferred_callchain_are_left_out_and_recorded_calls_are_not() {
    let spaces = spaces();
    let mut stack = stack_of(CpuMode::KERNEL, 1, &[KERNEL, 0x10, DEFERRED, 7]);
    assert!(add_deferred(&mut stack, 7, &[0x1000, 0x1010, 0x5000]));
    assert_eq!(stack.leave_out_unmapped(&spaces, 7), 1);
    assert_eq!(text(stack.frames()), "KERNEL 10, USER 1000, USER 1010<");
    assert_eq!(stack.end(), StackEnd::NoFramePointer);
    let calls = [[0x2005, 0x1000, 0], [0x3005, 0x2000, 0]];
    let attr = attr(SampleType::BRANCH_STACK).with_branch_sample_type(BranchSampleType::CALL_STACK);
    fill(&mut stack, &attr, SampleBuilder::new(&attr).callchain(&[USER, 1]).branches(&calls, None, &[]));
    assert_eq!((stack.leave_out_unmapped(&spaces, 7), stack.user().len()), (0, 3));
}

#[test]
fn reasons_are_one_line_each() {
    for end in [
        StackEnd::Unknown,
        StackEnd::AddressOnly,
        StackEnd::Limit { max_stack: 127 },
        StackEnd::Deferred { cookie: 7 },
        StackEnd::Complete,
        StackEnd::NoFramePointer,
        StackEnd::FramePointerLoop,
        StackEnd::Truncated { needed: 9000 },
        StackEnd::BeyondCopy { needed: 70000, limit: 65528 },
        StackEnd::OtherStack,
        StackEnd::NotCopied { address: 1 },
        StackEnd::NoUnwindInfo { address: 1 },
        StackEnd::BadAddress { address: 1 },
        StackEnd::BadFrame { address: 1 },
        StackEnd::Loop,
        StackEnd::TooDeep { max_frames: 1024 },
        StackEnd::Unsupported,
        StackEnd::Panicked,
    ] {
        for line in [end.to_string(), end.reason().to_string()] {
            assert!(!line.is_empty() && !line.contains(['\n', '{']), "{end:?}: {line}");
        }
    }
}

/// The naive model: one pass to track the marker, and one to separate the frames.
fn naive(mode: CpuMode, words: &[u64]) -> (Vec<StackFrame>, usize) {
    let (mut mode, mut before, mut frames) = (mode, None, Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            KERNEL => mode = CpuMode::KERNEL,
            USER => mode = CpuMode::USER,
            DEFERRED => {
                mode = CpuMode::USER;
                words.next();
            }
            address => {
                frames.push(StackFrame { mode, address, is_return_address: before == Some(mode) });
                before = Some(mode);
            }
        }
    }
    let (user, mut kernel): (Vec<_>, Vec<_>) =
        frames.into_iter().partition(|frame| frame.mode == CpuMode::USER);
    let user_start = kernel.len();
    kernel.extend(user);
    (kernel, user_start)
}

proptest! {
    #[test]
    fn frames_are_those_of_one_pass_over_the_words(
        words in prop::collection::vec(prop_oneof![3 => 0..9_u64, 1 => prop::sample::select(&[KERNEL, USER, DEFERRED][..])], 0..12),
        is_user in any::<bool>(),
    ) {
        let mode = if is_user { CpuMode::USER } else { CpuMode::KERNEL };
        let stack = stack_of(mode, 77, &words);
        let (frames, user_start) = naive(mode, &words);
        if frames.is_empty() {
            prop_assert_eq!(stack.frames(), [StackFrame { mode, address: 77, is_return_address: false }]);
        } else {
            prop_assert_eq!(stack.frames(), &frames[..]);
            prop_assert_eq!(stack.kernel().len(), user_start);
        }
    }
}
