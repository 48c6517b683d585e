//! Stacks of real programs: complete without frame pointers, and equal to the kernel's callchains
//! with them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use perf_abi::regs::{Architecture, RegsAbi};
use perf_abi::{Attr, CpuMode, Misc, Software};
use perf_decode::testing::builder::SampleBuilder;
use perf_decode::{RawRecord, Record, Sample, SampleLayout};
use perf_session::ring::{AttrFlags, SampleType, StackSize};
use perf_session::{EventSetOptions, EventSetRecord, EventSetTarget, System, parse};
use perf_symbols::{
    AddressSpaces, FileFinder, Location, NoUnwindInfo, ObjectFile, Stack, StackEnd, StackFrame, Unwinder,
    UserSource,
};

use crate::names::{jitdump_function, jitdump_header, map};
use crate::programs::Programs;

/// Runs a program, and passes each of its samples with the current mappings: the callchain by frame
/// pointers, and a stack copy of `bytes` bytes. Returns false if events cannot be opened.
fn sample(
    program: &Path,
    argument: &str,
    bytes: u32,
    mut each: impl FnMut(&AddressSpaces, &Sample<'_, &SampleLayout>),
) -> bool {
    let events = parse("cpu-clock/freq=1999/", &System::new()).expect("an event");
    let size = StackSize::new(bytes).expect("a size");
    let options = EventSetOptions::new().groups(events).target(EventSetTarget::command());
    let options = options.map_attrs(|attr| {
        attr.with_sample_type(SampleType::TID | SampleType::TIME | SampleType::IP | SampleType::CALLCHAIN)
            .with_regs_user(Architecture::NATIVE.registers())
            .with_stack_user(size)
            .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::COMM | AttrFlags::COMM_EXEC | AttrFlags::TASK)
            .with_flags(AttrFlags::MMAP | AttrFlags::MMAP2)
    });
    let mut set = match options.user_only_if_refused().ring_pages_within(16..=1024).open() {
        Ok(set) => set,
        Err(error) => {
            eprintln!("skipped: {error}");
            return false;
        }
    };
    let mut child = set.spawn(Command::new(program).arg(argument)).expect("a program that starts");
    let mut spaces = AddressSpaces::new();
    let pid = child.id();
    let mut add = |record: EventSetRecord<'_>| {
        // The kernel may put the fields of another process's event into a record of this one.
        let Ok(record) = record.decode() else { return };
        spaces.update(&record);
        let Record::Sample(sample) = record else { return };
        if sample.pid() == Some(pid) {
            each(&spaces, &sample);
        }
    };
    while child.try_wait().expect("a child").is_none() {
        set.wait(Some(Duration::from_millis(20))).expect("rings");
        set.drain_sorted(&mut add).expect("rings");
    }
    set.disable().expect("events");
    set.flush_sorted(add).expect("rings");
    true
}

/// Returns true if a frame is in a file with this name.
fn is_in(spaces: &AddressSpaces, pid: u32, frame: &StackFrame, program: &Path) -> bool {
    let location = spaces.find(pid, frame.mode, frame.lookup_address());
    matches!(location, Ok(Location::User(mapping)) if Path::new(std::str::from_utf8(mapping.object().path()).unwrap_or("")) == program)
}

/// Returns true if a frame is in the first function of a program, of the dynamic linker or of a
/// thread.
fn is_outermost(spaces: &AddressSpaces, pid: u32, frame: &StackFrame) -> bool {
    let Ok(Location::User(mapping)) = spaces.find(pid, frame.mode, frame.lookup_address()) else {
        return false;
    };
    let path = PathBuf::from(String::from_utf8_lossy(mapping.object().path()).into_owned());
    // A thread begins in clone() of libc, whose address is not in the headers.
    if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libc.so")) {
        return true;
    }
    let header = std::fs::read(&path).expect("a file");
    let entry =
        header.get(24..32).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes).expect("a header");
    let address = ObjectFile::open(path).expect("a file").address_of(mapping, frame.lookup_address());
    address.is_some_and(|address| (entry..entry + 64).contains(&address))
}

pub(crate) const CXX: [&str; 3] = ["-O2", "-pthread", "-fomit-frame-pointer"];
const CXX_FP: [&str; 5] =
    ["-O2", "-pthread", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-DKEEP_FRAMES"];
const RUST: [&str; 5] = ["-O", "--edition", "2024", "-C", "force-frame-pointers=no"];
const RUST_FP: [&str; 5] = ["-O", "--edition", "2024", "-C", "force-frame-pointers=yes"];

#[test]
fn stacks_without_frame_pointers_reach_the_first_function() {
    let folder = Programs::empty("unwind");
    let programs =
        [folder.compile("whole-cxx", "stacks.cpp", &CXX), folder.compile("whole-rust", "stacks.rs", &RUST)];
    for program in programs.into_iter().flatten() {
        for bytes in [8 << 10, 32 << 10] {
            let mut unwinder = Unwinder::new(Architecture::NATIVE, FileFinder::local());
            let mut stack = Stack::new();
            let (mut whole, mut truncated, mut others, mut interrupted) = (0, 0, Vec::new(), 0);
            let is_permitted = sample(&program, "200", bytes, |spaces, sample| {
                unwinder.unwind(spaces, sample, &mut stack);
                let pid = sample.pid().expect("a process");
                // Samples before exec have no program yet.
                if stack.user_source() != UserSource::StackCopy
                    || !spaces.mappings(pid).any(|mapping| mapping.object().path().ends_with(b"libc.so.6"))
                {
                    return;
                }
                // The frame that a signal interrupted is not a return address.
                let mut callers = stack.user().iter().skip(1);
                interrupted += u32::from(callers.any(|frame| !frame.is_return_address));
                match stack.end() {
                    StackEnd::Complete
                        if is_outermost(spaces, pid, stack.user().last().expect("a frame")) =>
                    {
                        whole += 1;
                    }
                    // Only functions with large frames need more than 8 KiB.
                    StackEnd::Truncated { needed } if needed > u64::from(bytes) && needed < 16 << 10 => {
                        truncated += 1;
                    }
                    end => others.push((end, stack.user().to_vec())),
                }
            });
            if !is_permitted {
                return;
            }
            let all = whole + truncated + others.len();
            println!(
                "{}, {bytes} bytes: {all} stacks, {whole} whole, {truncated} truncated",
                program.display()
            );
            assert!(all > 100, "{all} stacks");
            assert!(others.len() * 200 <= all, "{all} stacks, others: {:?}", others.get(..10));
            assert!(whole * 100 >= all * 99 || bytes < 16 << 10 && (whole + truncated) * 100 >= all * 99);
            assert!(bytes < 16 << 10 || truncated == 0, "{truncated} truncated");
            assert_eq!(unwinder.panics(), 0);
            assert!(interrupted > 0 || !cfg!(target_arch = "x86_64") || program.ends_with("whole-rust"));
        }
    }
}

#[test]
fn stacks_are_those_of_frame_pointers_in_programs_that_keep_them() {
    let folder = Programs::empty("beside");
    let programs =
        [folder.compile("fp-cxx", "stacks.cpp", &CXX_FP), folder.compile("fp-rust", "stacks.rs", &RUST_FP)];
    for program in programs.into_iter().flatten() {
        let mut unwinder = Unwinder::new(Architecture::NATIVE, FileFinder::local());
        let (mut by_pointers, mut by_copy) = (Stack::new(), Stack::new());
        let (mut equal, mut differences) = (0, Vec::new());
        let is_permitted = sample(&program, "200", 32 << 10, |spaces, sample| {
            let pid = sample.pid().expect("a process");
            by_pointers.fill(sample);
            unwinder.unwind(spaces, sample, &mut by_copy);
            assert_eq!(by_pointers.kernel(), by_copy.kernel());
            // Libraries keep no frame pointers: the chain is right up to the first call from one.
            let frames = by_pointers.user();
            let inside = frames.iter().take_while(|frame| is_in(spaces, pid, frame, &program)).count();
            if inside == 0 {
                return;
            }
            let len = frames.len().min(inside + 1);
            // Frame pointers lead to a signal handler as to a call.
            let addresses = |frames: &[StackFrame]| -> Vec<_> {
                frames.iter().take(len).map(|frame| frame.address).collect()
            };
            let (expected, found) = (addresses(frames), addresses(by_copy.user()));
            if expected == found {
                equal += 1;
            } else {
                differences.push((expected, found));
            }
        });
        if !is_permitted {
            return;
        }
        let all = equal + differences.len();
        println!("{}: {all} stacks, {equal} equal", program.display());
        assert!(all > 100, "{all} stacks");
        assert!(equal * 100 >= all * 99, "{equal} of {all}: {:x?}", differences.get(..5));
    }
}

/// Counts the samples in user space whose stack copy ends like this, and those that end otherwise.
fn ends(
    program: &Path,
    way: &str,
    mut is_expected: impl FnMut(&mut Unwinder, &AddressSpaces, u32, &Stack) -> bool,
) -> Option<(u32, Vec<StackEnd>)> {
    let mut unwinder = Unwinder::new(Architecture::NATIVE, FileFinder::local());
    let (mut stack, mut expected, mut others) = (Stack::new(), 0, Vec::new());
    let is_permitted = sample(program, way, 8 << 10, |spaces, sample| {
        unwinder.unwind(spaces, sample, &mut stack);
        let pid = sample.pid().expect("a process");
        // The others are from the start of the program.
        let innermost = stack.user().first();
        let is_inside = innermost.is_some_and(|frame| is_in(spaces, pid, frame, program));
        if !is_inside || stack.user_source() != UserSource::StackCopy {
            return;
        }
        if is_expected(&mut unwinder, spaces, pid, &stack) {
            expected += 1;
        } else {
            others.push(stack.end());
        }
    });
    is_permitted.then_some((expected, others))
}

#[test]
fn stacks_that_end_early_have_the_true_reason() {
    let folder = Programs::empty("ends");
    let dynamic = folder.compile("ends", "ends.c", &["-O1", "-fno-optimize-sibling-calls"]);
    // Without `.eh_frame_hdr`.
    let fixed = folder.compile("ends-static", "ends.c", &["-O1", "-fno-optimize-sibling-calls", "-static"]);
    // With `.eh_frame` for the start and the PLT, and all else in a compressed `.debug_frame`.
    let debug_frame = ["-g", "-gz", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"];
    let options =
        [&["-O1", "-fno-optimize-sibling-calls", "-fomit-frame-pointer"][..], &debug_frame].concat();
    let beside = folder.compile("ends-debug-frame", "ends.c", &options);
    for program in [dynamic, fixed, beside].into_iter().flatten() {
        let by_asm = ["register", "saved", "hidden", "nothing", "guess"]
            .into_iter()
            .filter(|_| cfg!(target_arch = "x86_64"));
        let by_kernel = ["handler"].into_iter().filter(|_| cfg!(target_arch = "x86_64"));
        for way in ["fiber", "large", "deep"].into_iter().chain(by_kernel).chain(by_asm) {
            let missing =
                |unwinder: &mut Unwinder, pid, stack: &Stack, reason: NoUnwindInfo| match stack.end() {
                    StackEnd::NoUnwindInfo { address } => unwinder.missing_info(pid, address) == Some(reason),
                    _ => false,
                };
            let ends = ends(&program, way, |unwinder, _, pid, stack| match way {
                // No function called the one at the end, so that its own address is looked up.
                "fiber" => {
                    let last = stack.user().last().expect("a frame");
                    stack.end() == StackEnd::Complete && stack.user().len() == 3 && !last.is_return_address
                }
                "handler" => stack.end() == StackEnd::OtherStack,
                "large" => {
                    matches!(stack.end(), StackEnd::BeyondCopy { needed, limit } if needed > 100_000 && limit < 65536)
                }
                "deep" => {
                    matches!(stack.end(), StackEnd::Truncated { needed } if needed % 8 == 0 && needed <= 65528)
                }
                // The frames of this program, and of libc with the start.
                "register" => stack.end() == StackEnd::Complete && stack.user().len() >= 4,
                "saved" => stack.end() == StackEnd::Complete && stack.user().len() >= 7,
                "hidden" => missing(unwinder, pid, stack, NoUnwindInfo::Registers) && stack.user().len() == 4,
                _ => missing(unwinder, pid, stack, NoUnwindInfo::Uncovered) && stack.user().len() == 1,
            });
            let Some((expected, others)) = ends else { return };
            println!("{}, {way}: {expected}, others: {others:?}", program.display());
            // Few samples are in the other functions of the program.
            assert!(expected > 20 && others.len() * 20 <= expected as usize, "{way}: {expected}, {others:?}");
        }
    }
}

#[test]
fn callers_of_python_functions_are_found_through_their_trampolines() {
    // No process has this id.
    const PID: u32 = 4_294_967_280;
    const CODE: u64 = 0x40_0000;
    const LIBRARY: u64 = 0x50_0000;
    let path = format!("/tmp/perf-{PID}.map");
    let functions = "400000 b py::leaf:a.py\n400010 b py::main:a.py\n400020 8 py::framed:a.py\n\
                     400030 7 py::new:a.py\n400100 b Builtin:main\n";
    std::fs::write(&path, functions).expect("a file in /tmp");
    let mut spaces = AddressSpaces::new();
    map(&mut spaces, CpuMode::USER, PID, [CODE, 0x1000, 0], b"//anon");
    map(&mut spaces, CpuMode::USER, PID, [LIBRARY, 0x1000, 0], b"/no/such/file");

    let mut unwinder = Unwinder::new(Architecture::X86_64, FileFinder::local());
    let mut callers = |ip: u64, bp: u64, words: &[u64]| {
        callers(&mut unwinder, &spaces, PID, &[(6, bp), (7, SP), (8, ip)], words)
    };
    let (leaf, main, framed, new, other) = (CODE, CODE + 0x10, CODE + 0x20, CODE + 0x30, CODE + 0x100);
    let (in_main, in_library) = (main + 6, LIBRARY + 0x20);
    for (name, ip, bp, words, expected) in [
        ("before the first instruction", leaf, 0, vec![in_library], vec![in_library]),
        ("after the call", leaf + 6, 0, vec![1, in_main, 2, in_library], vec![in_main, in_library]),
        ("before the return", leaf + 10, 0, vec![in_main, 2, in_library], vec![in_main, in_library]),
        ("a frame pointer", framed + 6, SP, vec![0, in_main, 2, in_library], vec![in_main, in_library]),
        // The saved frame pointer leads on.
        ("its value", framed + 6, SP, vec![SP + 16, in_library, 0, in_main, 2], vec![in_library, in_main]),
        ("between instructions", leaf + 7, 0, vec![1, in_main, 2, in_library], vec![]),
        ("an unknown form", new + 6, 0, vec![1, in_main, 2, in_library], vec![]),
        ("another function", other + 6, 0, vec![1, in_main, 2, in_library], vec![]),
        ("a caller outside of code", leaf + 6, 0, vec![1, 0x10], vec![]),
    ] {
        assert_eq!(callers(ip, bp, &words).0, expected, "{name}");
    }
    let short = callers(leaf + 6, 0, &[1]);
    let _ = std::fs::remove_file(&path);
    assert_eq!(short, (vec![], StackEnd::Truncated { needed: 16 }));
}

#[test]
fn caller_of_compiled_code_is_found_by_the_unwind_information_of_its_jitdump() {
    // No process has this id.
    const PID: u32 = 4_294_967_281;
    const CODE: u64 = 0x10_0000;
    const LIBRARY: u64 = 0x50_0000;
    let path = std::env::temp_dir().join(format!("jit-{PID}.dump"));
    // A CIE with relative addresses, and an FDE for 64 bytes of code before it, whose frame is at
    // rbx.
    let cie: [u32; 6] = [20, 0, 0x0052_7a01, 0x0110_7801, 0x0807_0c1b, 0x0000_0190];
    let fde: [u32; 6] = [20, 28, 0_u32.wrapping_sub(96), 64, 0x1003_0c00, 0];
    let frames: Vec<u8> = [cie, fde].as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut bytes = jitdump_header(PID);
    bytes.extend([4_u32, 40 + frames.len() as u32].map(u32::to_le_bytes).concat());
    bytes.extend([0, frames.len() as u64, 0, 0].map(u64::to_le_bytes).concat());
    bytes.extend(frames);
    bytes.extend(jitdump_function(PID, 0, "compiled"));
    std::fs::write(&path, &bytes).expect("a temporary file");
    let mut spaces = AddressSpaces::new();
    map(&mut spaces, CpuMode::USER, PID, [CODE, 0x1000, 0], b"//anon");
    map(&mut spaces, CpuMode::USER, PID, [LIBRARY, 0x1000, 0], b"/no/such/file");
    map(&mut spaces, CpuMode::USER, PID, [0x20_0000, 0x1000, 0], path.as_os_str().as_encoded_bytes());
    let mut unwinder = Unwinder::new(Architecture::X86_64, FileFinder::local());
    let words = [9, 9, 9, LIBRARY + 0x20];
    let mut callers_at = |ip| {
        let registers = [(1, SP + 16), (6, 0), (7, SP), (8, ip)];
        callers(&mut unwinder, &spaces, PID, &registers, &words).0
    };
    let found = [CODE, CODE + 63, CODE + 64].map(&mut callers_at);
    let _ = std::fs::remove_file(&path);
    assert_eq!(found, [vec![LIBRARY + 0x20], vec![LIBRARY + 0x20], vec![]]);
}

const SP: u64 = 0x7fff_0000;

/// Unwinds a sample with these registers (ascending kernel numbers and values; the last one is the
/// instruction pointer) and this stack. Returns the addresses of the callers, and how the stack
/// ends.
fn callers(
    unwinder: &mut Unwinder,
    spaces: &AddressSpaces,
    pid: u32,
    registers: &[(u8, u64)],
    words: &[u64],
) -> (Vec<u64>, StackEnd) {
    let mask = registers.iter().fold(0, |mask, (number, _)| mask | 1 << number);
    let fields = SampleType::TID | SampleType::IP;
    let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_regs_user(mask);
    let attr = attr.with_stack_user(StackSize::new(4096).expect("a size"));
    let layout = SampleLayout::new(&attr);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let values: Vec<u64> = registers.iter().map(|&(_, value)| value).collect();
    let misc = Misc::empty().with_cpu_mode(CpuMode::USER);
    let sample = SampleBuilder::new(&attr).misc(misc).tid(pid, pid).ip(*values.last().expect("a register"));
    let sample = sample.regs_user(RegsAbi::ABI_64.0, &values);
    let words = sample.stack_user(&bytes, bytes.len() as u64).finish();
    let record = RawRecord::from_words(&words).expect("framed").decode(&layout).expect("valid");
    let Record::Sample(sample) = record else { panic!("a sample") };
    let mut stack = Stack::new();
    unwinder.unwind(spaces, &sample, &mut stack);
    (stack.user().iter().skip(1).map(|frame| frame.address).collect(), stack.end())
}
