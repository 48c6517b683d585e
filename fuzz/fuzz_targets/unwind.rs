//! Follows any stack by any unwind information. Input in words: options (bit 0: arm64, 1: `.debug_frame`, 2: no
//! `.eh_frame_hdr`), two instruction pointers, the frame pointer, the link register, the bytes of stack and header; then the
//! stack, the header, and the section with the entries. Code is at 0x1000 to 0x2000 of the file, and mapped at 0x401000.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use perf_abi::regs::{Architecture, RegsAbi};
use perf_abi::{Attr, CpuMode, Misc, RecordType, SampleType, Software, StackSize};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_symbols::{AddressSpaces, FileFinder, Stack, StackEnd, Unwinder};
use perfkit_fuzz::Input;
use perfkit_fuzz::elf::elf;

const BASE: u64 = 0x40_0000;
const SP: u64 = 0x7fff_0000;
const MAX_FRAMES: usize = 200;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    // Arithmetic of gimli and framehop overflows, which panics here only, and is caught. All else aborts.
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        if !["/gimli-", "/framehop-"].iter().any(|library| file.contains(library)) {
            abort(panic);
        }
    }));
    std::env::temp_dir().join(format!("perfkit-fuzz-unwind-{}", std::process::id()))
});

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let options = input.word();
    let ips = [input.word(), input.word()].map(|word| BASE + 0x1000 + word % 0x1000);
    let [fp, lr, lens] = [input.word(), input.word(), input.word()];
    let rest = bytes.get(48..).unwrap_or_default();
    let (stack_bytes, rest) = rest.split_at(rest.len().min(lens as usize & 0xffff));
    let (header, frames) = rest.split_at(rest.len().min((lens >> 16) as usize & 0xffff));

    let is_arm64 = options & 1 != 0;
    let machine = if is_arm64 { Architecture::ARM64 } else { Architecture::X86_64 };
    let mut sections = vec![(".eh_frame", 0x2_0000, frames), (".eh_frame_hdr", 0x1_0000, header)];
    if options & 2 != 0 {
        sections = vec![(".debug_frame", 0, frames)];
    } else if options & 4 != 0 {
        sections.truncate(1);
    }
    fs::write(&*FILE, elf(machine.0, &sections)).expect("a file in the temporary folder");

    let (mask, values) =
        if is_arm64 { (0x1_e000_0000, vec![fp, lr, SP, 0]) } else { (0x1c0, vec![fp, SP, 0]) };
    let fields = SampleType::TID | SampleType::IP;
    let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_regs_user(mask);
    let attr = attr.with_stack_user(StackSize::new(4096).expect("a size"));
    let layout = SampleLayout::new(&attr);
    let user = Misc::empty().with_cpu_mode(CpuMode::USER);
    let pid = std::process::id();
    let mut spaces = AddressSpaces::new();
    let path = FILE.to_string_lossy();
    let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(pid, pid).words(&[BASE, 0x2000, 0]);
    let mmap = mmap.string(path.as_bytes()).finish();
    spaces.update(&RawRecord::from_words(&mmap).expect("framed").decode(&layout).expect("valid"));

    let mut unwinder = Unwinder::new(machine, FileFinder::local()).with_max_frames(MAX_FRAMES);
    let mut stack = Stack::new();
    // The second time, rules are in the cache.
    for ip in [ips[0], ips[1], ips[0]] {
        let mut values = values.clone();
        if let Some(last) = values.last_mut() {
            *last = ip;
        }
        let size = stack_bytes.len().next_multiple_of(8);
        let mut copy = stack_bytes.to_vec();
        copy.resize(size, 0);
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
});
