//! Follows stacks by any rules for all registers. Input in words: options (bit 0: arm64, 1: `.debug_frame`), and a byte of
//! each length: the instructions of a first function, of a second one, and the stack, which follow. The first functions of
//! both pointers are at 0x1000 and 0x1800 of the file, each with 0x800 bytes. Each register has the address of a word of
//! the stack.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use perf_abi::regs::Architecture;
use perfkit_fuzz::Input;
use perfkit_fuzz::elf::elf;
use perfkit_fuzz::stacks::{self, BASE, SP};

static FILE: LazyLock<PathBuf> = LazyLock::new(|| stacks::file("unwind-rules"));

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let (options, lens) = (input.word(), input.word());
    let rest = bytes.get(16..).unwrap_or_default();
    let (first, rest) = rest.split_at(rest.len().min(lens as usize & 0xff));
    let (second, stack_bytes) = rest.split_at(rest.len().min((lens >> 8) as usize & 0xff));

    let (is_arm64, is_debug_frame) = (options & 1 != 0, options & 2 != 0);
    let (machine, numbers, ip) =
        if is_arm64 { (Architecture::ARM64, 0..33_u8, 32) } else { (Architecture::X86_64, 0..24_u8, 8) };
    let (sp, return_address) = if is_arm64 { (31, 30) } else { (7, 16) };
    // No segment registers, which kernels refuse to sample.
    let numbers = numbers.filter(|number| is_arm64 || !(9..16).contains(number));
    let registers: Vec<_> =
        numbers.map(|number| (number, if number == sp { SP } else { SP + 8 * u64::from(number) })).collect();

    let mut frames = Vec::new();
    let mut put = |id: u32, body: &[u8]| {
        let body = [&id.to_le_bytes(), body].concat();
        frames.extend((body.len() as u32).to_le_bytes());
        frames.extend(body);
    };
    // Version 1, factors 1 and -8. The CFA is 8 bytes above the stack pointer, which is register 7 or 31, and the return
    // address below it.
    let cie = [1, 0, 1, 0x78, return_address, 0x0c, sp, 8, 0x80 | return_address, 1];
    put(if is_debug_frame { u32::MAX } else { 0 }, &cie);
    let mut distance = 4 + 4 + cie.len() as u32 + 4;
    for (start, instructions) in [(0x1000_u64, first), (0x1800, second)] {
        let entry = [&start.to_le_bytes()[..], &0x800_u64.to_le_bytes(), instructions].concat();
        // From this field to the CIE, or from the start of the section.
        put(if is_debug_frame { 0 } else { distance }, &entry);
        distance += 8 + entry.len() as u32;
    }
    let section =
        if is_debug_frame { (".debug_frame", 0, &*frames) } else { (".eh_frame", 0x2_0000, &*frames) };
    let file = (&*FILE, &*elf(machine.0, &[section]));
    let ips = [BASE + 0x1010, BASE + 0x1810, BASE + 0x1010];
    stacks::follow(machine, file, &registers, (ip, &ips), stack_bytes);
});
