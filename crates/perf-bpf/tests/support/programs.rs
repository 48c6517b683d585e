//! Programs that write records, and maps that count what they wrote.

use perf_bpf::events::{CpuList, System};
use perf_bpf::ring::abi::bpf::{BPF_F_CURRENT_CPU, BpfHelper};
use perf_bpf::{
    BpfElemFlags, BpfMapType, BpfProgType, Error, EventArray, MapFd, MapSpec, ProgramFd, RingBuf,
};

use super::asm::{Asm, R0, R1, R2, R3, R4, R5, R6, R7, R10, RINGBUF_OUTPUT};
use super::permitted;

/// Counters of a program, each summed over all CPUs.
pub(crate) struct Counters(pub(crate) MapFd);

impl Counters {
    /// Creates the map, or prints the reason and returns `None`.
    #[track_caller]
    pub(crate) fn create() -> Option<Self> {
        let spec = MapSpec::new(BpfMapType::PERCPU_ARRAY, 1).with_sizes(4, 16);
        permitted(MapFd::create(&spec)).map(Self)
    }

    /// Returns the number of records that the program tried to write, and of those that it could
    /// not.
    pub(crate) fn produced_and_failed(&self) -> (u64, u64) {
        let mut element = vec![0; self.0.element_size().unwrap()];
        assert!(self.0.lookup(&[0; 4], &mut element, BpfElemFlags::empty()).unwrap());
        let mut words = element.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
        let (mut produced, mut failed) = (0, 0);
        while let (Some(of_cpu), Some(failed_of_cpu)) = (words.next(), words.next()) {
            produced += of_cpu;
            failed += failed_of_cpu;
        }
        (produced, failed)
    }
}

/// The map that a program writes into.
pub(crate) enum Sink<'m> {
    Array(&'m EventArray),
    Ring(&'m RingBuf),
}

/// Loads a program that writes a record of `size` bytes, a multiple of 8, and counts it. The first
/// word is the number of the record on its CPU, from 1; the second is the cookie if `has_cookie`.
#[track_caller]
pub(crate) fn output(
    prog_type: BpfProgType,
    sink: &Sink<'_>,
    counters: &Counters,
    size: i16,
    has_cookie: bool,
) -> Option<ProgramFd> {
    permitted(load_output(prog_type, sink, counters, size, has_cookie))
}

/// Loads like [`output`], or returns `None` if the kernel lacks the helper for the cookie.
#[track_caller]
pub(crate) fn try_output(
    prog_type: BpfProgType,
    sink: &Sink<'_>,
    counters: &Counters,
    size: i16,
    has_cookie: bool,
) -> Option<ProgramFd> {
    match load_output(prog_type, sink, counters, size, has_cookie) {
        Err(error) if error.errno() == Some(perf_bpf::ring::Errno::EINVAL) => None,
        loaded => permitted(loaded),
    }
}

fn load_output(
    prog_type: BpfProgType,
    sink: &Sink<'_>,
    counters: &Counters,
    size: i16,
    has_cookie: bool,
) -> Result<ProgramFd, Error> {
    let data = -8 - size;
    let mut asm = Asm::default().mov(R6, R1).lookup_first(R7, &counters.0, 1);
    for offset in (data..-8).step_by(8) {
        asm = asm.store_value(R10, offset, i32::from(offset));
    }
    if has_cookie {
        asm = asm.mov(R1, R6).call(BpfHelper::GET_ATTACH_COOKIE.0).store(R10, data + 8, R0);
    }
    asm = asm.increment(R7, 0).store(R10, data, R0);
    asm = match sink {
        Sink::Array(array) => asm
            .mov(R1, R6)
            .set_map(R2, array)
            .set_u32(R3, BPF_F_CURRENT_CPU as u32)
            .mov(R4, R10)
            .add(R4, data.into())
            .set(R5, size.into())
            .call(BpfHelper::PERF_EVENT_OUTPUT.0),
        Sink::Ring(ring) => asm
            .set_map(R1, ring)
            .mov(R2, R10)
            .add(R2, data.into())
            .set(R3, size.into())
            .set(R4, 0)
            .call(RINGBUF_OUTPUT),
    };
    let asm = asm.unless(R0, 0, |asm| asm.increment(R7, 8)).exit_with(1);
    ProgramFd::load(prog_type, asm.code(), c"GPL", "pk_output".parse().unwrap())
}

/// Returns the online CPUs.
pub(crate) fn online() -> CpuList {
    CpuList::online(&System::new()).unwrap()
}

/// Runs a raw tracepoint program `times` times on each CPU, in a thread per CPU.
pub(crate) fn fire_on_all(program: &ProgramFd, cpus: &CpuList, times: usize) {
    std::thread::scope(|scope| {
        for cpu in cpus {
            scope.spawn(move || (0..times).for_each(|_| fire_on(program, cpu)));
        }
    });
}

/// Runs a raw tracepoint program once on a CPU.
#[track_caller]
pub(crate) fn fire_on(program: &ProgramFd, cpu: u32) {
    program.test_run(&[], Some(cpu)).unwrap();
}
