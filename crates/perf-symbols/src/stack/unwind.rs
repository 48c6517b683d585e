//! Unwinds the user part of a stack from sampled registers and a copy of the stack.

use std::fmt;

use perf_abi::regs::Architecture;
use perf_decode::{Layout, Sample};

use super::info::NoUnwindInfo;
use super::machine::{Arm64, X86_64};
use super::reader::StackCopy;
use super::walker::Walker;
use super::{Stack, StackEnd, UserSource};
use crate::caught::caught;
use crate::{AddressSpaces, FileFinder};

/// Unwinds user stacks with the unwind information that compilers write for exceptions
/// (`.eh_frame`). For samples with [`REGS_USER`](perf_abi::SampleType::REGS_USER) and
/// [`STACK_USER`](perf_abi::SampleType::STACK_USER).
///
/// It uses the files that were mapped at the time of the sample, verified by a [`FileFinder`]. Each
/// file is read once, when a stack first leads to it, for all processes. In code without unwind
/// information it follows the frame pointer, if that leads to executable memory. With the feature
/// `names`, it knows the code through which Python calls functions that a perf map or jitdump
/// lists, and uses the unwind information in jitdumps. It supports x86-64 and arm64, also for
/// recordings of another machine.
///
/// Files are untrusted: entries with loops are refused, and a panic of the library that reads them
/// is caught and counted ([`panics`](Self::panics)): see
/// [`is_panic_caught`](crate::is_panic_caught). Time is linear in the number of frames.
///
/// Use an unwinder with one [`AddressSpaces`] only.
///
/// ```no_run
/// use perf_abi::regs::Architecture;
/// use perf_decode::Record;
/// use perf_file::Reader;
/// use perf_symbols::{AddressSpaces, FileFinder, Stack, StackEnd, Unwinder};
///
/// let mut spaces = AddressSpaces::new();
/// let mut unwinder = Unwinder::new(Architecture::X86_64, FileFinder::local());
/// let mut stack = Stack::new();
/// let mut reader = Reader::open("perf.data")?.sorted();
/// while let Some(record) = reader.next()? {
///     let record = record.decode()?;
///     spaces.update(&record);
///     let Record::Sample(sample) = record else { continue };
///     unwinder.unwind(&spaces, &sample, &mut stack);
///     match stack.end() {
///         StackEnd::Complete => println!("{} frames", stack.frames().len()),
///         StackEnd::NoUnwindInfo { address } => {
///             let reason = unwinder.missing_info(sample.pid().unwrap_or(0), address);
///             println!("{address:#x}: {}", reason.map_or_else(String::new, |reason| reason.to_string()));
///         }
///         end => println!("{end}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Unwinder {
    options: Options,
    walker: AnyWalker,
    panics: u64,
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) finder: FileFinder,
    pub(super) max_frames: usize,
    pub(super) max_bytes: u64,
    pub(super) address_mask: Option<u64>,
}

enum AnyWalker {
    X86_64(Box<Walker<X86_64>>),
    Arm64(Box<Walker<Arm64>>),
    Unsupported,
}

impl Unwinder {
    /// Creates an unwinder for recordings of a machine: [`Architecture::NATIVE`], or the machine
    /// that a `perf.data` file names.
    pub fn new(architecture: Architecture, finder: FileFinder) -> Self {
        let walker = match architecture {
            Architecture::X86_64 => AnyWalker::X86_64(Box::default()),
            Architecture::ARM64 => AnyWalker::Arm64(Box::default()),
            _ => AnyWalker::Unsupported,
        };
        let options = Options { finder, max_frames: 1024, max_bytes: 512 << 20, address_mask: None };
        Self { options, walker, panics: 0 }
    }

    /// Limits the number of user frames per stack, 1024 by default.
    #[must_use]
    pub fn with_max_frames(mut self, frames: usize) -> Self {
        self.set_max_frames(frames);
        self
    }

    /// Sets the [limit](Self::with_max_frames) for the following stacks.
    pub fn set_max_frames(&mut self, frames: usize) {
        self.options.max_frames = frames;
    }

    /// Limits the memory for sections in bytes, 512 MiB by default; the sections of the last stack
    /// can exceed it. Over the limit, all sections are dropped and read again.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.options.max_bytes = bytes;
        self
    }

    /// Sets the valid bits of return addresses on arm64; the others are pointer authentication. By
    /// default the low 48 bits, and more if a process has code above them.
    #[must_use]
    pub fn with_address_mask(mut self, mask: u64) -> Self {
        self.options.address_mask = Some(mask);
        self
    }

    /// Replaces the frames with those of a sample: the kernel part of its callchain, and the user
    /// part from registers and the stack copy. Without these, does the same as [`Stack::fill`].
    pub fn unwind<L: Layout>(&mut self, spaces: &AddressSpaces, sample: &Sample<'_, L>, stack: &mut Stack) {
        stack.fill(sample);
        let (Some(regs), Some(copy), Some(pid)) = (sample.regs_user(), sample.stack_user(), sample.pid())
        else {
            return;
        };
        let copy = StackCopy::new(&copy, 8 * sample.words().len() as u64);
        let (options, walker) = (&self.options, &mut self.walker);
        let walk = caught(|| match walker {
            AnyWalker::X86_64(walker) => walker.start(options, spaces, pid, &regs, copy, stack),
            AnyWalker::Arm64(walker) => walker.start(options, spaces, pid, &regs, copy, stack),
            AnyWalker::Unsupported => None,
        });
        match walk {
            Some(Some(end)) => stack.end = end,
            // Keep a callchain if there is one.
            Some(None) if matches!(stack.source, UserSource::None | UserSource::Address) => {
                stack.end = StackEnd::Unsupported;
            }
            Some(None) => {}
            None => {
                stack.end = StackEnd::Panicked;
                self.recover();
            }
        }
    }

    /// Returns true if the kernel finds the caller of a function that is interrupted at an address,
    /// according to the unwind information. It does not if the function keeps no frame pointer, or
    /// has not set it yet. Returns `None` if that is unknown.
    ///
    /// If false, the callchain skips the caller, or continues with a wrong address.
    pub fn has_frame_pointer(&mut self, spaces: &AddressSpaces, pid: u32, address: u64) -> Option<bool> {
        let (options, walker) = (&self.options, &mut self.walker);
        let found = caught(|| match walker {
            AnyWalker::X86_64(walker) => walker.has_frame_pointer(options, spaces, pid, address),
            AnyWalker::Arm64(walker) => walker.has_frame_pointer(options, spaces, pid, address),
            AnyWalker::Unsupported => None,
        });
        found.unwrap_or_else(|| {
            self.recover();
            None
        })
    }

    /// Counts a panic and drops state that it may have left inconsistent.
    fn recover(&mut self) {
        self.panics += 1;
        match &mut self.walker {
            AnyWalker::X86_64(walker) => walker.recover(),
            AnyWalker::Arm64(walker) => walker.recover(),
            AnyWalker::Unsupported => {}
        }
    }

    /// Returns why the unwind information at an address does not lead to the caller: for the
    /// address of a [`StackEnd::NoUnwindInfo`] or of another frame in a process that was unwound.
    /// Returns `None` if it does.
    pub fn missing_info(&mut self, pid: u32, address: u64) -> Option<NoUnwindInfo> {
        match &mut self.walker {
            AnyWalker::X86_64(walker) => walker.missing_info(pid, address),
            AnyWalker::Arm64(walker) => walker.missing_info(pid, address),
            AnyWalker::Unsupported => None,
        }
    }

    /// Returns the number of caught panics. A file that caused one is not used again.
    pub fn panics(&self) -> u64 {
        self.panics
    }
}

impl fmt::Debug for AnyWalker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64(_) => "X86_64",
            Self::Arm64(_) => "Arm64",
            Self::Unsupported => "Unsupported",
        })
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, CallchainContext, CpuMode, Misc, RecordType, SampleType, Software, StackSize};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
    use perf_decode::{RawRecord, Record, SampleLayout};

    use perf_abi::regs::RegsAbi;

    use super::*;
    use crate::{NotFoundKind, StackFrame};

    const SP: u64 = 0x7fff_0000;
    const CODE: u64 = 0x40_0000;
    const PID: u32 = 7;

    /// The registers that unwinding needs: ascending numbers with values.
    type Registers = Vec<(u8, u64)>;

    fn x86(ip: u64, bp: u64) -> Registers {
        vec![(6, bp), (7, SP), (8, ip)]
    }

    fn arm64(pc: u64, fp: u64) -> Registers {
        vec![(29, fp), (30, 0x1234), (31, SP), (32, pc)]
    }

    /// Unwinds a sample of a process whose mappings have no file.
    fn unwind(
        unwinder: &mut Unwinder,
        abi: RegsAbi,
        registers: &Registers,
        words: &[u64],
        asked: u64,
    ) -> Stack {
        unwind_as(Misc::empty(), unwinder, abi, registers, words, asked)
    }

    fn unwind_as(
        misc: Misc,
        unwinder: &mut Unwinder,
        abi: RegsAbi,
        registers: &Registers,
        words: &[u64],
        asked: u64,
    ) -> Stack {
        let mask = registers.iter().fold(0, |mask, (number, _)| mask | 1 << number);
        let fields = SampleType::TID | SampleType::IP | SampleType::CALLCHAIN;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_regs_user(mask);
        let attr = attr.with_stack_user(StackSize::new(4096).expect("a size"));
        let layout = SampleLayout::new(&attr);
        let user = Misc::empty().with_cpu_mode(CpuMode::USER);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let valid = bytes.len() as u64;
        bytes.resize(valid.max(asked) as usize, 0);
        let values: Vec<_> = registers.iter().map(|&(_, value)| value).collect();
        let chain = [CallchainContext::KERNEL.0, 0x10];
        let sample = SampleBuilder::new(&attr).misc(misc.with_cpu_mode(CpuMode::USER)).tid(PID, PID).ip(1);
        let sample = sample.callchain(&chain).regs_user(abi.0, &values).stack_user(&bytes, valid).finish();
        let mut spaces = AddressSpaces::new();
        // Stacks do not lead to the other pages.
        for page in 0..20 {
            let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(PID, PID);
            let mmap = mmap.words(&[CODE + 0x10_0000 * page, 0x1000, 0]).string(b"/no/such/file").finish();
            spaces.update(&RawRecord::from_words(&mmap).expect("framed").decode(&layout).expect("valid"));
        }
        let record = RawRecord::from_words(&sample).expect("framed").decode(&layout).expect("valid");
        let Record::Sample(sample) = record else { panic!("a sample") };
        let mut stack = Stack::new();
        unwinder.unwind(&spaces, &sample, &mut stack);
        stack
    }

    fn addresses(frames: &[StackFrame]) -> Vec<u64> {
        frames.iter().map(|frame| frame.address).collect()
    }

    fn unwinder(architecture: Architecture) -> Unwinder {
        Unwinder::new(architecture, FileFinder::remote().with_symfs("/no/such/folder"))
    }

    #[test]
    fn code_without_a_file_is_followed_by_frame_pointers_to_the_end_of_the_copy() {
        let signed = 0x00ab_0000_0000_0000 | (CODE + 0x30);
        for (architecture, registers, third) in [
            (Architecture::X86_64, x86(CODE + 0x10, SP + 16), CODE + 0x30),
            (Architecture::ARM64, arm64(CODE + 0x10, SP + 16), signed),
        ] {
            let mut unwinder = unwinder(architecture);
            let words = [0, 0, SP + 32, CODE + 0x20, SP + 128, third];
            let stack = unwind(&mut unwinder, RegsAbi::ABI_64, &registers, &words, 48);
            assert_eq!(addresses(stack.kernel()), [0x10]);
            assert_eq!(addresses(stack.user()), [CODE + 0x10, CODE + 0x20, CODE + 0x30], "{architecture}");
            assert!(!stack.user()[0].is_return_address && stack.user()[1].is_return_address);
            assert_eq!(stack.user_source(), UserSource::StackCopy);
            let StackEnd::Truncated { needed } = stack.end() else { panic!("{:?}", stack.end()) };
            assert!((136..=144).contains(&needed), "{needed}");
            let Some(missing) = unwinder.missing_info(PID, CODE) else { panic!("a reason") };
            assert!(missing.to_string().starts_with("code without a file: /no/such/file"), "{missing}");
            let NoUnwindInfo::File(reason) = missing else { panic!("{missing}") };
            assert_eq!(reason.kind(), NotFoundKind::Missing);
            // A process can have a thousand more, and so can each of its forks.
            let modules = match &unwinder.walker {
                AnyWalker::X86_64(walker) => walker.modules(),
                AnyWalker::Arm64(walker) => walker.modules(),
                AnyWalker::Unsupported => 0,
            };
            assert_eq!(modules, 1);
            assert_eq!(unwinder.missing_info(PID, CODE - 1), Some(NoUnwindInfo::Unmapped));
            assert_eq!(unwinder.panics(), 0);
        }
    }

    #[test]
    fn stack_of_a_precise_sample_begins_at_its_address_and_not_at_the_registers() {
        let words = [0, 0, SP + 32, CODE + 0x20, 0, 0];
        let registers = x86(CODE + 0x10, SP + 16);
        let mut unwinder = unwinder(Architecture::X86_64);
        let stack = unwind_as(Misc::EXACT_IP, &mut unwinder, RegsAbi::ABI_64, &registers, &words, 48);
        assert_eq!(addresses(stack.frames()), [1, CODE + 0x20]);
        assert_eq!((stack.kernel().len(), stack.user_source()), (0, UserSource::StackCopy));
        assert!(!stack.user()[0].is_return_address && stack.user()[1].is_return_address);
    }

    #[test]
    fn frame_pointer_that_leads_nowhere_is_missing_information() {
        let registers = |bp| x86(CODE + 0x10, bp);
        let missing = |address| StackEnd::NoUnwindInfo { address };
        let first = missing(CODE + 0x10);
        for (name, registers, words, end, frames) in [
            ("zero", registers(0), vec![0; 8], first, 1),
            ("no code", registers(SP), vec![SP + 16, 0x123], first, 1),
            ("below the stack", registers(SP - 64), vec![0; 8], first, 1),
            ("far away", registers(1 << 40), vec![0; 8], first, 1),
            ("the last address", registers(u64::MAX), vec![0; 8], first, 1),
            ("itself", registers(SP), vec![SP, CODE + 0x20], missing(CODE + 0x1f), 2),
            ("no code at all", x86(0, SP), vec![SP + 16, CODE + 0x20, 0, 0], missing(CODE + 0x1f), 2),
        ] {
            let asked = words.len() as u64 * 8;
            let stack =
                unwind(&mut unwinder(Architecture::X86_64), RegsAbi::ABI_64, &registers, &words, asked);
            assert_eq!((stack.end(), stack.user().len()), (end, frames), "{name}");
        }
    }

    #[test]
    fn end_has_one_of_five_causes() {
        let causes = [
            "no unwind information",
            "the copy of the stack is too short",
            "alternate signal stack",
            "code without a file",
            "damaged stack or unwind information",
        ];
        let address = 0x1000;
        let ends = [
            StackEnd::Truncated { needed: 8 },
            StackEnd::BeyondCopy { needed: 8, limit: 8 },
            StackEnd::NotCopied { address },
            StackEnd::OtherStack,
            StackEnd::NoUnwindInfo { address },
            StackEnd::BadAddress { address },
            StackEnd::BadFrame { address },
            StackEnd::Loop,
            StackEnd::Panicked,
        ];
        let missing = [
            NoUnwindInfo::Unmapped,
            NoUnwindInfo::NoSection,
            NoUnwindInfo::Uncovered,
            NoUnwindInfo::Unsafe,
            NoUnwindInfo::Registers,
            NoUnwindInfo::Panicked,
        ];
        let texts =
            ends.iter().map(|end| end.reason().to_string()).chain(missing.iter().map(ToString::to_string));
        for text in texts {
            assert_eq!(causes.iter().filter(|cause| text.starts_with(**cause)).count(), 1, "{text}");
        }
    }

    #[test]
    fn frame_pointer_of_zero_ends_the_stack_and_does_not_prove_it_complete() {
        // The first function may have had no frame pointer.
        for (architecture, registers) in
            [(Architecture::X86_64, x86(CODE, SP)), (Architecture::ARM64, arm64(CODE, SP))]
        {
            let words = [SP + 16, CODE + 0x20, 0, CODE + 0x30];
            let stack = unwind(&mut unwinder(architecture), RegsAbi::ABI_64, &registers, &words, 32);
            let addresses = addresses(stack.user());
            assert_eq!(addresses[..2], [CODE, CODE + 0x20], "{architecture}");
            assert_eq!(stack.end(), StackEnd::Unknown, "{architecture}");
        }
    }

    #[test]
    fn copy_that_the_kernel_could_not_complete_is_not_truncated() {
        let words = [SP + 16, CODE + 0x20, SP + 32, CODE + 0x30, SP + 64, CODE + 0x40];
        let registers = x86(CODE + 0x10, SP);
        for (asked, is_truncated) in [(48, true), (64, false)] {
            let mut unwinder = unwinder(Architecture::X86_64);
            let stack = unwind(&mut unwinder, RegsAbi::ABI_64, &registers, &words, asked);
            let end = match stack.end() {
                StackEnd::Truncated { needed } => (true, SP + needed - 8),
                StackEnd::NotCopied { address } => (false, address),
                end => panic!("{end:?}"),
            };
            assert!(end.0 == is_truncated && (SP + 48..SP + 128).contains(&end.1), "{end:x?}");
        }
    }

    #[test]
    fn unwinder_can_move_to_another_thread() {
        fn assert_send<T: Send>(_: &T) {}
        assert_send(&unwinder(Architecture::NATIVE));
    }

    #[test]
    fn stack_ends_at_the_number_of_frames_that_is_permitted() {
        let words: Vec<_> = (1..100).flat_map(|frame| [SP + 16 * frame, CODE + 0x20]).collect();
        let mut unwinder = unwinder(Architecture::X86_64).with_max_frames(20);
        let stack = unwind(&mut unwinder, RegsAbi::ABI_64, &x86(CODE, SP), &words, words.len() as u64 * 8);
        assert_eq!((stack.end(), stack.user().len()), (StackEnd::TooDeep { max_frames: 20 }, 20));
    }

    #[test]
    fn registers_of_another_machine_or_of_32_bits_are_unsupported() {
        for (architecture, abi, registers) in [
            (Architecture::RISCV64, RegsAbi::ABI_64, x86(CODE, SP)),
            (Architecture::X86_64, RegsAbi::ABI_32, x86(CODE, SP)),
            (Architecture::X86_64, RegsAbi::ABI_64, vec![(8, CODE)]),
        ] {
            let stack = unwind(&mut unwinder(architecture), abi, &registers, &[0; 8], 64);
            assert_eq!((stack.end(), addresses(stack.frames())), (StackEnd::Unsupported, vec![0x10]));
        }
    }
}
