//! Rules of the files of the system.

use perf_sys::{Attr, AttrFlags, Errno, EventType, SampleType, Target};

use super::{Violation, max_precise, pmu_of};
use crate::names::Pmu;
use crate::system::{CpuList, FileError, System};

type Rule = fn(&System, &Attr, Target<'_>) -> Result<Option<Violation>, FileError>;

/// The rules, in the order in which the kernel checks them.
pub(super) const RULES: &[Rule] =
    &[sample_rate, max_stack, possible_cpu, online_cpu, cpu_pmu_for_task, pmu_on_cpu, precise_ip];

const MAX_SAMPLE_RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const MAX_STACK: &str = "/proc/sys/kernel/perf_event_max_stack";

fn sample_rate(system: &System, attr: &Attr, _: Target<'_>) -> Result<Option<Violation>, FileError> {
    if !attr.flags.contains(AttrFlags::FREQ) {
        return Ok(None);
    }
    let Some(most) = System::optional(system.number(MAX_SAMPLE_RATE, "a sample rate"))? else {
        return Ok(None);
    };
    Ok((attr.sample_period > u64::from(most)).then(|| {
        let rule = format!("a frequency of at most {most} Hz ({MAX_SAMPLE_RATE})");
        let remedy =
            "use a lower frequency or a period, or raise the sysctl: the kernel lowers it under load";
        Violation::new("sample_freq", format_args!("{} Hz", attr.sample_period), rule, remedy)
    }))
}

fn max_stack(system: &System, attr: &Attr, _: Target<'_>) -> Result<Option<Violation>, FileError> {
    if !attr.sample_type.contains(SampleType::CALLCHAIN) || attr.sample_max_stack == 0 {
        return Ok(None);
    }
    let Some(most) = System::optional(system.number(MAX_STACK, "a number of addresses"))? else {
        return Ok(None);
    };
    Ok((u32::from(attr.sample_max_stack) > most).then(|| {
        let rule = format!("at most {most} addresses ({MAX_STACK})");
        let remedy = "use fewer, or raise the sysctl while no callchain is sampled";
        Violation::new("sample_max_stack", attr.sample_max_stack, rule, remedy).with_errno(Errno::EOVERFLOW)
    }))
}

fn possible_cpu(system: &System, _: &Attr, target: Target<'_>) -> Result<Option<Violation>, FileError> {
    let Some(cpu) = target.cpu_id() else { return Ok(None) };
    let Some(possible) = System::optional(CpuList::possible(system))? else { return Ok(None) };
    Ok((!possible.contains(cpu)).then(|| {
        let rule = format!("a CPU of {possible} (/sys/devices/system/cpu/possible)");
        Violation::new("cpu", cpu, rule, "use the true ids of the CPUs: they may have holes")
    }))
}

fn online_cpu(system: &System, _: &Attr, target: Target<'_>) -> Result<Option<Violation>, FileError> {
    // A thread's event on an offline CPU opens.
    let Some(cpu) = target.cpu_id().filter(|_| !target.is_thread()) else { return Ok(None) };
    let Some(online) = System::optional(CpuList::online(system))? else { return Ok(None) };
    let possible = CpuList::possible(system).is_ok_and(|possible| possible.contains(cpu));
    Ok((possible && !online.contains(cpu)).then(|| {
        let rule = format!("a CPU of {online} (/sys/devices/system/cpu/online)");
        let remedy = "skip the CPU, or open the event when it is back";
        Violation::new("cpu", cpu, rule, remedy).with_errno(Errno::ENODEV)
    }))
}

/// Returns the PMU of the attr if the kernel chose its number.
fn dynamic_pmu(system: &System, attr: &Attr) -> Result<Option<Pmu>, FileError> {
    if attr.kind <= EventType::BREAKPOINT { Ok(None) } else { pmu_of(system, attr) }
}

/// An uncore PMU, which has a `cpumask`, counts for CPUs only.
fn cpu_pmu_for_task(
    system: &System,
    attr: &Attr,
    target: Target<'_>,
) -> Result<Option<Violation>, FileError> {
    if !target.is_thread() && !target.is_cgroup() {
        return Ok(None);
    }
    let Some(pmu) = dynamic_pmu(system, attr)?.filter(Pmu::is_cpu_only) else { return Ok(None) };
    let rule = format!("PMU {pmu} counts on CPUs, not for tasks");
    let cpus = pmu.cpus().map(ToString::to_string).unwrap_or_default();
    let remedy = format!("count it on CPUs {cpus} (its file cpumask)");
    let found = if target.is_cgroup() { "a cgroup" } else { "a thread" };
    Ok(Some(Violation::new("target", found, rule, remedy)))
}

/// A core PMU of a hybrid CPU is not on every CPU.
fn pmu_on_cpu(system: &System, attr: &Attr, target: Target<'_>) -> Result<Option<Violation>, FileError> {
    let Some(cpu) = target.cpu_id() else { return Ok(None) };
    let Some(pmu) = dynamic_pmu(system, attr)?.filter(Pmu::is_core) else { return Ok(None) };
    let Some(cpus) = pmu.cpus().filter(|cpus| !cpus.contains(cpu)) else { return Ok(None) };
    let rule = format!("PMU {pmu} is on CPUs {cpus} (its file cpus)");
    Ok(Some(Violation::new("cpu", cpu, rule, "open it on these").with_errno(Errno::ENODEV)))
}

fn precise_ip(system: &System, attr: &Attr, _: Target<'_>) -> Result<Option<Violation>, FileError> {
    let level = u32::from(attr.flags.precise_ip().level());
    let ignores = [EventType::SOFTWARE, EventType::TRACEPOINT, EventType::BREAKPOINT];
    if level == 0 || ignores.contains(&attr.kind) {
        return Ok(None);
    }
    let Some(pmu) = pmu_of(system, attr)? else { return Ok(None) };
    let Some(most) = max_precise(&pmu)? else { return Ok(None) };
    Ok((level > most).then(|| {
        let rule = format!("PMU {pmu} has a precise_ip of at most {most} (its file caps/max_precise)");
        let remedy = "use a lower level: the samples have more skid";
        Violation::new("flags", format_args!("precise_ip {level}"), rule, remedy)
            .with_errno(Errno::EOPNOTSUPP)
    }))
}
