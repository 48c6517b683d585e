//! Limits of the process and the system.

use perf_ring::{Attr, AttrFlags, EventType, SampleType};

use super::case::Case;
use super::rules::Found;
use super::{Cause, Diagnosis, Evidence, Field};
use crate::system::{System, soft_limit, sysctl_file};

const MAX_SAMPLE_RATE: &str = "kernel.perf_event_max_sample_rate";
const MAX_STACK: &str = "kernel.perf_event_max_stack";

pub(super) fn sample_rate(case: &mut Case<'_>) -> Found {
    if !case.has(AttrFlags::FREQ) {
        return Ok(None);
    }
    let most = System::optional(case.system.sysctl_number(MAX_SAMPLE_RATE, "a sample rate"))?;
    let Some(most) = most.filter(|most| case.attr.sample_period > u64::from(*most)) else { return Ok(None) };
    let text = format!("{} Hz is above kernel.perf_event_max_sample_rate", case.attr.sample_period);
    let remedy = "use a lower frequency or a period, or raise the sysctl: the kernel lowers it under load";
    let rule = format!("a frequency of at most {most} Hz ({})", sysctl_file(MAX_SAMPLE_RATE));
    let diagnosis = Diagnosis::new(Cause::SampleRate, text, remedy).with(Evidence::new("the rule", rule));
    Ok(Some(diagnosis.on_attr(Field::SAMPLE_FREQ, case.attr)))
}

pub(super) fn max_stack(case: &mut Case<'_>) -> Found {
    let asked = case.attr.sample_max_stack;
    let most = case.system.sysctl_number(MAX_STACK, "a number of addresses");
    // The kernel compares the depth only for callchains. After EOVERFLOW it has done so.
    if case.errno.is_none() {
        if !case.samples(SampleType::CALLCHAIN) || asked == 0 {
            return Ok(None);
        }
        if System::optional(most.clone())?.is_none_or(|most| u32::from(asked) <= most) {
            return Ok(None);
        }
    }
    let remedy = format!(
        "use at most that, or sysctl kernel.perf_event_max_stack={asked} while no callchain is sampled"
    );
    let text = format!("sample_max_stack of {asked} is above kernel.perf_event_max_stack");
    let diagnosis = Diagnosis::new(Cause::MaxStack, text, remedy);
    Ok(Some(
        diagnosis
            .with(Evidence::of_file(&sysctl_file(MAX_STACK), most.as_ref()))
            .on(Field::SAMPLE_MAX_STACK, asked),
    ))
}

pub(super) fn memory() -> Diagnosis {
    Diagnosis::new(
        Cause::Memory,
        "the kernel has no memory for the event or its callchain buffers",
        "free memory, or raise the memory limit of the cgroup",
    )
}

/// Explains an attr with fields that the kernel does not have.
pub(super) fn attr_size(attr: &Attr, kernel: u32) -> Diagnosis {
    let fields: Vec<_> = Field::beyond(attr, kernel).map(|field| field.to_string()).collect();
    if kernel < Attr::SIZE_VER0 || attr.size < Attr::SIZE_VER0 {
        let text = format!("no kernel accepts an attr of {} bytes", attr.size);
        return Diagnosis::new(Cause::AttrSize, text, "use an attr of 64 bytes and more")
            .with(Evidence::new("the kernel's size of perf_event_attr", format_args!("{kernel} bytes")));
    }
    let text = format!("this kernel lacks {} of the attr", fields.join(", "));
    Diagnosis::new(Cause::AttrSize, text, "do without these fields").with(Evidence::new(
        "the kernel's size of perf_event_attr",
        format_args!("{kernel} bytes; that of the attr is {}", attr.size),
    ))
}

pub(super) fn process_files(case: &Case<'_>) -> Diagnosis {
    let limit = soft_limit(case.system, "Max open files");
    let open = case.system.list(case.system.this_process().file("fd")).map(|names| names.len());
    let text = "the process is at its limit of descriptors: an event takes one for each CPU and thread";
    let remedy = "raise RLIMIT_NOFILE (ulimit -n), or open fewer events";
    Diagnosis::new(Cause::ProcessFiles, text, remedy)
        .with(Evidence::of_file("Max open files of /proc/self/limits", limit.as_ref()))
        .with(Evidence::of_file("the number of entries of /proc/self/fd", open.as_ref()))
}

pub(super) fn system_files(case: &Case<'_>) -> Diagnosis {
    let files = case.system.sysctl("fs.file-nr");
    let files = files.map(|text| text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    let text = "the system is at its limit of open files";
    Diagnosis::new(Cause::SystemFiles, text, "raise the sysctl fs.file-max, or close files")
        .with(Evidence::of_file("/proc/sys/fs/file-nr (open, unused, maximum)", files.as_ref()))
}

pub(super) fn breakpoint_slots(case: &Case<'_>) -> Diagnosis {
    if !case.is(EventType::BREAKPOINT) {
        let text = "no counter is free, as kernels before 3.3 return it";
        let remedy = "close other events of the PMU, or open fewer in a group";
        return Diagnosis::new(Cause::GroupSize, text, remedy);
    }
    let scope = case.target.cpu_id().map_or("the task".to_owned(), |cpu| format!("CPU {cpu}"));
    let text = format!("all breakpoint registers for {scope} are in use (x86 has 4), also by debuggers");
    let remedy = "close other breakpoint events, or watch fewer addresses";
    Diagnosis::new(Cause::BreakpointSlots, text, remedy).on_attr(Field::BP_ADDR, case.attr)
}

pub(super) fn too_big(case: &Case<'_>) -> Diagnosis {
    if case.is_of_dynamic_pmu() {
        let text = "the path or function name of the probe is too long";
        return Diagnosis::new(Cause::Probe, text, "use a shorter path, for example a symbolic link");
    }
    let text = "a read of the group would be longer than 16 KiB";
    let remedy = "split the group, or read fewer words of each event";
    Diagnosis::new(Cause::GroupSize, text, remedy).on_attr(Field::READ_FORMAT, case.attr)
}
