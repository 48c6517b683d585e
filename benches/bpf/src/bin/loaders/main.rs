//! Programs that aya and libbpf-rs have loaded, attached by perf-bpf: a perf event program to a clock on each
//! CPU, and a raw tracepoint program by name.

use std::error::Error;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use aya::Ebpf;
use aya::programs::{PerfEvent, RawTracePoint};
use libbpf_rs::ObjectBuilder;
use perf_bpf::events::EventSpec;
use perf_bpf::sys::abi::bpf::BpfInsn;
use perf_bpf::sys::{Attr, Software};
use perf_bpf::{AttachedSet, Link};

mod elf;

const RETURN_0: [BpfInsn; 2] = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];
const TRACEPOINT: &CStr = c"sched_switch";

fn main() -> Result<(), Box<dyn Error>> {
    let (perf_event, raw) =
        (elf::object("perf_event", &RETURN_0), elf::object("raw_tracepoint/sched_switch", &RETURN_0));
    by_aya(&perf_event, &raw)?;
    by_libbpf(&perf_event, &raw)
}

fn by_aya(perf_event: &[u8], raw: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut object = Ebpf::load(perf_event)?;
    let program: &mut PerfEvent = object.program_mut("program").ok_or("no program")?.try_into()?;
    program.load()?;
    attach_to_clocks("aya", program.fd()?.as_fd())?;
    let mut object = Ebpf::load(raw)?;
    let program: &mut RawTracePoint = object.program_mut("program").ok_or("no program")?.try_into()?;
    program.load()?;
    attach_to_tracepoint("aya", program.fd()?.as_fd())
}

fn by_libbpf(perf_event: &[u8], raw: &[u8]) -> Result<(), Box<dyn Error>> {
    let object = ObjectBuilder::default().open_memory(perf_event)?.load()?;
    attach_to_clocks("libbpf-rs", object.progs().next().ok_or("no program")?.as_fd())?;
    let object = ObjectBuilder::default().open_memory(raw)?.load()?;
    attach_to_tracepoint("libbpf-rs", object.progs().next().ok_or("no program")?.as_fd())
}

fn attach_to_clocks(loader: &str, program: BorrowedFd<'_>) -> Result<(), Box<dyn Error>> {
    let clock = EventSpec::new(Attr::software(Software::CPU_CLOCK).with_period(1_000_000)); // ns
    let set = AttachedSet::open(clock, program, 7)?;
    println!("{loader}: perf event program on CPUs {}", set.set().cpus());
    assert_eq!(set.attachments().len(), set.set().cpus().len());
    set.close()?;
    Ok(())
}

fn attach_to_tracepoint(loader: &str, program: BorrowedFd<'_>) -> Result<(), Box<dyn Error>> {
    let link = Link::raw_tracepoint(TRACEPOINT, program, 0)?;
    println!("{loader}: raw tracepoint program {} on {TRACEPOINT:?}", link.info()?.prog_id);
    Ok(())
}
