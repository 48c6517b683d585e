//! Samples with registers and a stack copy, of code in a file of the fuzzer.

use std::fs;
use std::path::PathBuf;

use perf_abi::regs::{Architecture, RegsAbi};
use perf_abi::{Attr, CpuMode, Misc, RecordType, SampleType, Software, StackSize};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_symbols::{AddressSpaces, FileFinder, Stack, StackEnd, Unwinder};

/// Address of the process at which the file is mapped. Its code begins 0x1000 further on.
pub const BASE: u64 = 0x40_0000;
/// The stack pointer of all samples.
pub const SP: u64 = 0x7fff_0000;
const MAX_FRAMES: usize = 200;

/// Returns the path of the file for ELF files of this process. Lets panics abort, except where gimli and framehop overflow,
/// which panics with debug assertions only and is caught.
pub fn file(target: &str) -> PathBuf {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        if !["/gimli-", "/framehop-"].iter().any(|library| file.contains(library)) {
            abort(panic);
        }
    }));
    std::env::temp_dir().join(format!("perfkit-fuzz-{target}-{}", std::process::id()))
}

/// Unwinds samples at these instruction pointers. `registers` are ascending kernel numbers and values; the instruction
/// pointer, `ip`, is among them.
pub fn follow(
    machine: Architecture,
    file: (&PathBuf, &[u8]),
    registers: &[(u8, u64)],
    (ip_number, ips): (u8, &[u64]),
    stack_bytes: &[u8],
) {
    let (path, content) = file;
    fs::write(path, content).expect("a file in the temporary folder");
    let mask = registers.iter().fold(0, |mask, (number, _)| mask | 1 << number);
    let fields = SampleType::TID | SampleType::IP;
    let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_regs_user(mask);
    let attr = attr.with_stack_user(StackSize::new(4096).expect("a size"));
    let layout = SampleLayout::new(&attr);
    let user = Misc::empty().with_cpu_mode(CpuMode::USER);
    let pid = std::process::id();
    let mut spaces = AddressSpaces::new();
    let path = path.to_string_lossy();
    let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(pid, pid).words(&[BASE, 0x2000, 0]);
    let mmap = mmap.string(path.as_bytes()).finish();
    spaces.update(&RawRecord::from_words(&mmap).expect("framed").decode(&layout).expect("valid"));

    let mut unwinder = Unwinder::new(machine, FileFinder::local()).with_max_frames(MAX_FRAMES);
    let mut stack = Stack::new();
    for &ip in ips {
        let values: Vec<u64> =
            registers.iter().map(|&(number, value)| if number == ip_number { ip } else { value }).collect();
        let mut copy = stack_bytes.to_vec();
        copy.resize(stack_bytes.len().next_multiple_of(8), 0);
        let sample = SampleBuilder::new(&attr).misc(user).tid(pid, pid).ip(ip);
        let words = sample.regs_user(RegsAbi::ABI_64.0, &values).stack_user(&copy, stack_bytes.len() as u64);
        let words = words.finish();
        // A copy that is too long for a record.
        let Ok(raw) = RawRecord::from_words(&words) else { return };
        let Ok(Record::Sample(sample)) = raw.decode(&layout) else { return };
        unwinder.unwind(&spaces, &sample, &mut stack);
        assert!((1..=MAX_FRAMES).contains(&stack.user().len()));
        assert!(!stack.end().to_string().is_empty());
        if let StackEnd::NoUnwindInfo { address } = stack.end() {
            let reason = unwinder.missing_info(pid, address).map(|reason| reason.to_string());
            assert!(reason.is_none_or(|reason| !reason.is_empty()));
        }
    }
}
