//! Programs of type tracing, which the kernel attaches by BTF. They are loaded here, because the
//! crate loads no programs that need BTF.

use crate::prelude::*;

/// A cookie with all halves different.
const COOKIE: u64 = 0x0123_4567_89ab_cdef;

/// Returns the id of a typedef in BTF of this byte order.
fn typedef_id(btf: &[u8], name: &str) -> Option<u32> {
    let word = |at: usize| u32::from_ne_bytes(btf[at..at + 4].try_into().unwrap());
    let header = word(4) as usize;
    let (types, end) = (header + word(8) as usize, header + (word(8) + word(12)) as usize);
    let strings = &btf[header + word(16) as usize..];
    let is_name = |at: usize| strings[at..].split(|&byte| byte == 0).next() == Some(name.as_bytes());
    let (mut at, mut id) = (types, 1);
    while at < end {
        let (kind, entries) = (word(at + 4) >> 24 & 0x1f, (word(at + 4) & 0xffff) as usize);
        if kind == 8 && is_name(word(at) as usize) {
            return Some(id);
        }
        at += 12
            + match kind {
                1 | 14 | 17 => 4,                // integer, variable, tag of a declaration
                3 => 12,                         // array
                4 | 5 | 15 | 19 => 12 * entries, // struct, union, section, 64-bit enum
                6 | 13 => 8 * entries,           // enum, prototype
                _ => 0,
            };
        id += 1;
    }
    None
}

/// Loads a program for the BTF of the tracepoint `task_rename` that stores its cookie, or 1, in the
/// map.
fn load(map: &Map<u32, u64>, has_cookie: bool) -> Result<ProgramFd, Errno> {
    let btf = std::fs::read("/sys/kernel/btf/vmlinux").map_err(|_| Errno::ENOENT)?;
    let attach_btf_id = typedef_id(&btf, "btf_trace_task_rename").ok_or(Errno::ESRCH)?;
    let mut asm = Asm::default().mov(R6, R1).lookup_first(R7, map.fd(), 0).set(R0, 1);
    if has_cookie {
        asm = asm.mov(R1, R6).call(BpfHelper::GET_ATTACH_COOKIE.0);
    }
    let asm = asm.store(R7, 0, R0).exit_with(0);
    let mut attr = BpfProgLoad::new();
    attr.prog_type = BpfProgType::TRACING;
    attr.insn_cnt = asm.code().len() as u32;
    attr.insns = asm.code().as_ptr().expose_provenance() as u64;
    attr.license = c"GPL".as_ptr().expose_provenance() as u64;
    attr.expected_attach_type = BpfAttachType::TRACE_RAW_TP;
    attr.attach_btf_id = attach_btf_id;
    // SAFETY: the instructions and the license are live, and the length is theirs.
    let fd =
        unsafe { libc::syscall(libc::SYS_bpf, BpfCmd::PROG_LOAD.0, &raw const attr, size_of_val(&attr)) };
    match i32::try_from(fd) {
        // SAFETY: the kernel just made it.
        Ok(fd) if fd >= 0 => Ok(ProgramFd::from_fd(unsafe { OwnedFd::from_raw_fd(fd) }).unwrap()),
        _ => Err(Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap())),
    }
}

/// Returns the value that the program has stored when the calling thread renames itself.
fn stored(map: &Map<u32, u64>) -> u64 {
    map.update(&0, &0).unwrap();
    let name = std::fs::read("/proc/thread-self/comm").unwrap();
    std::fs::write("/proc/thread-self/comm", name).unwrap();
    map.lookup(&0).unwrap().unwrap()
}

/// Returns a map and the program, or prints the reason and returns `None`.
fn fixture(has_cookie: bool) -> Option<(Map<u32, u64>, ProgramFd)> {
    let map = map_or_skip(BpfMapType::ARRAY, 1)?;
    match load(&map, has_cookie) {
        Ok(program) => Some((map, program)),
        Err(Errno::ENOENT) => {
            eprintln!("skipped: the kernel has no BTF");
            None
        }
        Err(Errno::EINVAL) if has_cookie => {
            eprintln!("skipped: these programs have cookies since Linux 6.10");
            None
        }
        Err(errno) => {
            skip(format!("no program of type tracing: {errno}"));
            None
        }
    }
}

#[test]
fn a_tracing_program_runs_while_its_link_lives() {
    let Some((map, program)) = fixture(false) else { return };
    assert_eq!(stored(&map), 0);
    let Some(link) = permitted(Link::tracing(&program, 0)) else { return };
    assert_eq!(stored(&map), 1);
    let info = link.info().unwrap();
    assert!(matches!(info.kind, BpfLinkType::RAW_TRACEPOINT | BpfLinkType::TRACING), "{info:?}");
    assert_eq!(info.prog_id, program.info().unwrap().id);
    drop(link);
    assert_eq!(stored(&map), 0);
}

#[test]
fn a_tracing_program_reads_the_cookie_of_its_link() {
    let Some((map, program)) = fixture(true) else { return };
    let Some(_link) = permitted(Link::tracing(&program, COOKIE)) else { return };
    assert_eq!(stored(&map), COOKIE);
}

#[test]
fn a_program_of_another_type_has_no_tracing_link() {
    let Some(_map) = map_or_skip::<u32, u64>(BpfMapType::ARRAY, 1) else { return };
    let asm = Asm::default().exit_with(0);
    let program = ProgramFd::load(BpfProgType::RAW_TRACEPOINT, asm.code(), c"GPL", "pk".parse().unwrap());
    let Some(program) = permitted(program) else { return };
    let error = Link::tracing(program.as_fd(), 0).unwrap_err();
    assert_eq!(error.command(), Some(BpfCmd::RAW_TRACEPOINT_OPEN));
}
