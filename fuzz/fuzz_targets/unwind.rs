//! Follows any stack by any unwind information. Input in words: options (bit 0: arm64, 1: `.debug_frame`, 2: no
//! `.eh_frame_hdr`), two instruction pointers, the frame pointer, the link register, the bytes of stack and header; then the
//! stack, the header, and the section with the entries. Code is at 0x1000 to 0x2000 of the file, and mapped at 0x401000.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use perf_abi::regs::Architecture;
use perfkit_fuzz::Input;
use perfkit_fuzz::elf::elf;
use perfkit_fuzz::stacks::{self, BASE, SP};

static FILE: LazyLock<PathBuf> = LazyLock::new(|| stacks::file("unwind"));

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
    let (registers, ip) = if is_arm64 {
        (vec![(29, fp), (30, lr), (31, SP), (32, 0)], 32)
    } else {
        (vec![(6, fp), (7, SP), (8, 0)], 8)
    };
    let file = (&*FILE, &*elf(machine.0, &sections));
    // The second time, rules are in the cache.
    stacks::follow(machine, file, &registers, (ip, &[ips[0], ips[1], ips[0]]), stack_bytes);
});
