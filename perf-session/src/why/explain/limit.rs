//! Limits of the process and the system.

use perf_sys::{Attr, Errno, EventType};

use super::{Failure, Trial, cpu};
use crate::system::{System, soft_limit};
use crate::why::Field;
use crate::why::explain::{Cause, Evidence, Explanation};

const MAX_STACK: &str = "/proc/sys/kernel/perf_event_max_stack";

pub(super) fn explain(failure: &mut Failure<'_>, errno: Errno) -> Option<Explanation> {
    match errno {
        Errno::EMFILE => Some(process_files(failure.system)),
        Errno::ENFILE => Some(system_files(failure.system)),
        Errno::ENOMEM => Some(Explanation::new(
            Cause::Memory,
            "the kernel has no memory for the event or its callchain buffers",
            "free memory, or raise the memory limit of the cgroup",
        )),
        Errno::EOVERFLOW => Some(max_stack(failure)),
        Errno::ENOSPC => Some(breakpoint_slots(failure)),
        Errno::E2BIG => Some(too_big(failure)),
        Errno::EBUSY => Some(busy(failure)),
        Errno::EBADF => bad_descriptor(failure),
        _ => None,
    }
}

/// Explains an attr with fields that the kernel does not have.
pub(super) fn attr_size(attr: &Attr, kernel: u32) -> Explanation {
    let fields: Vec<_> = Field::beyond(attr, kernel).map(|field| field.to_string()).collect();
    if kernel < Attr::SIZE_VER0 || attr.size < Attr::SIZE_VER0 {
        let text = format!("no kernel accepts an attr of {} bytes", attr.size);
        return Explanation::new(Cause::AttrSize, text, "use an attr of 64 bytes and more")
            .with(Evidence::new("the kernel's size of perf_event_attr", format_args!("{kernel} bytes")));
    }
    let text = format!("this kernel lacks {} of the attr", fields.join(", "));
    Explanation::new(Cause::AttrSize, text, "do without these fields").with(Evidence::new(
        "the kernel's size of perf_event_attr",
        format_args!("{kernel} bytes; that of the attr is {}", attr.size),
    ))
}

fn process_files(system: &System) -> Explanation {
    let limit = soft_limit(system, "Max open files");
    let open = system.list("/proc/self/fd").map(|names| names.len());
    Explanation::new(
        Cause::ProcessFiles,
        "the process is at its limit of descriptors: an event takes one for each CPU and thread",
        "raise RLIMIT_NOFILE (ulimit -n), or open fewer events",
    )
    .with(Evidence::of_file("Max open files of /proc/self/limits", limit.as_ref()))
    .with(Evidence::of_file("the number of entries of /proc/self/fd", open.as_ref()))
}

fn system_files(system: &System) -> Explanation {
    const FILE_NR: &str = "/proc/sys/fs/file-nr";
    let files = system.read(FILE_NR).map(|text| text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    Explanation::new(
        Cause::SystemFiles,
        "the system is at its limit of open files",
        "raise the sysctl fs.file-max, or close files",
    )
    .with(Evidence::of_file("/proc/sys/fs/file-nr (open, unused, maximum)", files.as_ref()))
}

fn max_stack(failure: &Failure<'_>) -> Explanation {
    let most = failure.system.read(MAX_STACK).map(|text| text.trim().to_owned());
    let asked = failure.open.attr.sample_max_stack;
    Explanation::new(
        Cause::MaxStack,
        format!("sample_max_stack of {asked} is above kernel.perf_event_max_stack"),
        format!(
            "use at most that, or sysctl kernel.perf_event_max_stack={asked} while no callchain is sampled"
        ),
    )
    .with(Evidence::of_file(MAX_STACK, most.as_ref()))
}

fn breakpoint_slots(failure: &Failure<'_>) -> Explanation {
    if failure.open.attr.kind == EventType::BREAKPOINT {
        let target = failure.open.target;
        let scope = target.cpu_id().map_or("the task".to_owned(), |cpu| format!("CPU {cpu}"));
        return Explanation::new(
            Cause::BreakpointSlots,
            format!("all breakpoint registers for {scope} are in use (x86 has 4), also by debuggers"),
            "close other breakpoint events, or watch fewer addresses",
        )
        .with(Evidence::new("attr.bp_addr", format_args!("{:#x}", failure.open.attr.config1)));
    }
    Explanation::new(
        Cause::GroupSize,
        "no counter is free, as kernels before 3.3 return it",
        "close other events of the PMU, or open fewer in a group",
    )
}

fn too_big(failure: &Failure<'_>) -> Explanation {
    if failure.open.attr.kind > EventType::BREAKPOINT {
        let text = "the path or function name of the probe is too long";
        return Explanation::new(Cause::Probe, text, "use a shorter path, for example a symbolic link");
    }
    Explanation::new(
        Cause::GroupSize,
        "a read of the group would be longer than 16 KiB",
        "split the group, or read fewer words of each event",
    )
    .with(Evidence::new("attr.read_format", failure.open.attr.read_format))
}

fn busy(failure: &mut Failure<'_>) -> Explanation {
    let pmu = crate::why::check::pmu_of(failure.system, failure.open.attr).ok().flatten();
    let name = pmu.as_ref().map_or("the PMU".to_owned(), |pmu| format!("PMU {pmu}"));
    let explanation = Explanation::new(
        Cause::Busy,
        format!("another event has {name}, or its branch unit, for itself"),
        "close the other event: one program at a time can use a trace unit",
    );
    match pmu {
        Some(pmu) => explanation.with(crate::why::check::type_of(&pmu)),
        None => explanation,
    }
}

/// Explains a descriptor that is not a cgroup's directory or a group leader's.
fn bad_descriptor(failure: &mut Failure<'_>) -> Option<Explanation> {
    let (attr, target) = (failure.open.attr, failure.open.target);
    let alone = failure.open.in_group && {
        let trial = failure.attempt(Trial { attr, target, in_group: false });
        trial.is_some_and(|result| !cpu::is_errno(&result, Errno::EBADF))
    };
    if alone || (failure.open.in_group && !target.is_cgroup()) {
        let text = "the group leader's descriptor is closed, or not of perf_event_open";
        return Some(Explanation::new(
            Cause::Leader,
            text,
            "open the leader before its siblings, and keep it open",
        ));
    }
    target.is_cgroup().then(|| {
        Explanation::new(
            Cause::Cgroup,
            "the descriptor is not the directory of a cgroup that perf events can use",
            "open a directory of cgroup2, or of the version 1 hierarchy with the perf_event controller",
        )
        .with(cgroup_mounts(failure.system))
    })
}

/// Returns the mounted cgroup hierarchies as evidence.
pub(super) fn cgroup_mounts(system: &System) -> Evidence {
    let mounts = system.read("/proc/self/mounts").map(|text| {
        let types = text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            let (place, kind) = (words.next()?, words.next()?);
            kind.starts_with("cgroup").then(|| format!("{place} ({kind})"))
        });
        types.collect::<Vec<_>>().join(" ")
    });
    Evidence::of_file("cgroup mounts of /proc/self/mounts", mounts.as_ref())
}
