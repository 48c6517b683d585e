//! Samples of a 32-bit task in a 64-bit tracer: its registers, and the fields after them.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use perf_abi::regs::{RegsAbi, X86Reg};
use perf_abi::{Attr, AttrFlags, SampleType, Software, StackSize};
use perf_decode::{Record, SampleLayout};
use perf_ring::{Ring, Target};
use support::open_or_skip;

/// Address at which the program is loaded. Its code follows the two headers.
const BASE: u32 = 0x0804_8000;
const ENTRY: u32 = BASE + 84;
/// Distance of the pages: a huge page, the most that one fault maps.
const STEP: u32 = 2 << 20;
/// The pages that it writes to, of anonymous memory.
const PAGES: [u32; 4] =
    [BASE + 0x1000, BASE + 0x1000 + STEP, BASE + 0x1000 + 2 * STEP, BASE + 0x1000 + 3 * STEP];
/// The instruction that writes.
const STORE: u32 = ENTRY + 31;
/// The word that it writes, from EBX.
const WRITTEN: u32 = 0xfeed_beef;

/// Returns a program for i386 that waits for a byte, writes a word to each page and exits. It is
/// machine code, so that the tests need no compiler for it.
fn program() -> Vec<u8> {
    #[rustfmt::skip]
    let code = [
        &[0x31, 0xdb][..],                          // xor ebx, ebx         standard input
        &[0x89, 0xe1],                              // mov ecx, esp
        &[0xba, 1, 0, 0, 0],                        // mov edx, 1
        &[0xb8, 3, 0, 0, 0],                        // mov eax, 3           read
        &[0xcd, 0x80],                              // int 0x80
        &[0xbb], &WRITTEN.to_le_bytes(),            // mov ebx, WRITTEN
        &[0xbf], &PAGES[0].to_le_bytes(),           // mov edi, PAGES[0]
        &[0xb9, PAGES.len() as u8, 0, 0, 0],        // mov ecx, PAGES.len()
        &[0x89, 0x1f],                              // mov [edi], ebx       STORE
        &[0x81, 0xc7], &STEP.to_le_bytes(),         // add edi, STEP
        &[0x49],                                    // dec ecx
        &[0x75, 0xf5],                              // jnz STORE
        &[0x31, 0xdb],                              // xor ebx, ebx
        &[0xb8, 1, 0, 0, 0],                        // mov eax, 1           exit
        &[0xcd, 0x80],                              // int 0x80
    ].concat();
    let size = 84 + code.len() as u32;
    #[rustfmt::skip]
    let headers = [
        &b"\x7fELF\x01\x01\x01"[..], &[0; 9],       // 32 bits, little-endian, version 1
        &[2, 0, 3, 0],                              // e_type EXEC, e_machine 386
        &1_u32.to_le_bytes(),                       // e_version
        &ENTRY.to_le_bytes(),                       // e_entry
        &52_u32.to_le_bytes(),                      // e_phoff
        &0_u32.to_le_bytes(),                       // e_shoff
        &0_u32.to_le_bytes(),                       // e_flags
        &[52, 0, 32, 0, 1, 0],                      // e_ehsize, e_phentsize, e_phnum
        &[40, 0, 0, 0, 0, 0],                       // e_shentsize, e_shnum, e_shstrndx
        &1_u32.to_le_bytes(),                       // p_type LOAD
        &0_u32.to_le_bytes(),                       // p_offset
        &BASE.to_le_bytes(),                        // p_vaddr
        &BASE.to_le_bytes(),                        // p_paddr
        &size.to_le_bytes(),                        // p_filesz
        &(0x2000 + 3 * STEP).to_le_bytes(),         // p_memsz
        &7_u32.to_le_bytes(),                       // p_flags: read, write, execute
        &0x1000_u32.to_le_bytes(),                  // p_align
    ].concat();
    [headers, code].concat()
}

/// Starts the program, which waits for its byte.
fn spawn() -> io::Result<Child> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("i386-{}", std::process::id()));
    std::fs::write(&place, program())?;
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755))?;
    let child = Command::new(&place).stdin(Stdio::piped()).spawn();
    std::fs::remove_file(&place)?;
    child
}

#[test]
fn registers_of_a_32_bit_task_have_its_abi_and_later_fields_follow() {
    let mut child = match spawn() {
        Ok(child) => child,
        Err(error) => return eprintln!("skipped: a 32-bit program cannot run here: {error}"),
    };
    let mask = [X86Reg::BX, X86Reg::DI, X86Reg::SP, X86Reg::IP].map(|register| 1 << register.0);
    let attr = Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(SampleType::IP | SampleType::ADDR | SampleType::CALLCHAIN | SampleType::DATA_SRC)
        .with_regs_user(mask.iter().sum())
        .with_stack_user(StackSize::new(64).unwrap())
        .with_flags(AttrFlags::EXCLUDE_KERNEL);
    let event = open_or_skip(&attr, Target::thread(child.id()));
    let ring = event.map(|event| Ring::map(event, 8).unwrap());
    child.stdin.take().unwrap().write_all(b"!").unwrap();
    assert!(child.wait().unwrap().success());
    let Some(mut ring) = ring else { return };

    let layout = SampleLayout::new(&attr);
    let mut written = Vec::new();
    for record in ring.batch().unwrap().records() {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode(&layout).unwrap() else { panic!("{record:?}") };
        let registers = sample.regs_user().unwrap();
        assert_eq!((registers.abi(), registers.values().len()), (RegsAbi::ABI_32, mask.len()));
        if sample.ip() != Some(STORE.into()) {
            continue; // faults of the exec, or of the first instruction
        }
        let register = |register: X86Reg| registers.get(register.0).unwrap();
        assert_eq!((register(X86Reg::BX), register(X86Reg::IP)), (WRITTEN.into(), STORE.into()));
        assert_eq!(sample.addr(), Some(register(X86Reg::DI)));
        assert!(register(X86Reg::SP) > 0 && register(X86Reg::SP) < 1 << 32);
        // After the registers: the stack, into which the byte was read, and the last field.
        assert_eq!(sample.stack_user().unwrap().bytes().first(), Some(&b'!'));
        assert!(sample.data_src().is_some());
        written.push(register(X86Reg::DI));
    }
    assert_eq!(written, PAGES.map(u64::from));
}
