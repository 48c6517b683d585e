//! From an event string to the events of this machine.

mod resolver;
#[cfg(test)]
mod tests;

use resolver::Resolver;

use crate::names::expression::{Expression, Group, ParseError, Problem, Span};
use crate::names::spec::{EventGroup, NamedEvent};
use crate::system::System;

/// Returns the events of an event string, as the perf tool accepts it.
///
/// | string | event |
/// |---|---|
/// | `cycles`, `page-faults`, `L1-dcache-load-misses` | hardware, software and cache events |
/// | `r1a2` | code of an event of the CPU's PMU |
/// | `cpu/event=0xc0,umask=1/`, `msr/tsc/` | event of a PMU by its terms or its name |
/// | `sched:sched_switch`, `sched:*` | tracepoints |
/// | `uprobe:/bin/bash:readline`, `uretprobe:/bin/bash:readline` | entries, returns of a function of a program or library |
/// | `uprobe:/bin/bash:readline+0x4`, `uprobe:/bin/bash:0x1234` | instruction of the function, at an offset of the file |
/// | `kprobe:do_sys_openat2`, `kretprobe:do_sys_openat2` | entries, returns of a function of the kernel |
/// | `mem:0x1000/4:rw` | breakpoint: address, length, accesses |
/// | `1:3` | type and config of the attr |
/// | `cycles:u`, `cpu/event=0xc0/u` | with [modifiers](crate::expression::Modifiers) |
/// | `cycles/period=1000,name=x/` | with settings of the attr |
/// | `{cycles,instructions}:S` | group |
///
/// The terms of every event are:
///
/// | term | field of the attr |
/// |---|---|
/// | `config=N` to `config4=N` | the words of the event selector |
/// | `period=N`, `freq=N` | events between samples, samples per second |
/// | `name=TEXT` | none: the name of the event |
/// | `time=0` or `1` | `TIME` in samples |
/// | `call-graph=fp`, `dwarf`, `lbr` or `no` | callchains in samples, the user's part by these means |
/// | `stack-size=N`, `max-stack=N` | bytes of the user stack, addresses of a callchain |
/// | `branch_type='any,u'` | the sampled branches |
/// | `inherit`, `no-inherit` | `INHERIT` |
/// | `overwrite`, `no-overwrite` | `WRITE_BACKWARD` |
/// | `aux-output`, `aux-sample-size=N` | AUX data |
///
/// The attrs are those that perf 6.1 makes, as the tests compare for several hundred strings,
/// except that without a term `period` or `freq` nothing is sampled. Like there, guests are
/// excluded by default ([`Modifiers`](crate::expression::Modifiers)); only from the events of PMUs
/// outside of the cores they are not, because these PMUs fail with `EINVAL` for an exclusion.
///
/// ```no_run
/// use perf_session::System;
///
/// for group in perf_session::parse("{cycles,instructions}:u,sched:sched_switch", &System::new())? {
///     for event in group.members() {
///         println!("{} is opened as {} events", event.name(), event.specs().len());
///     }
/// }
/// # Ok::<(), perf_session::ParseError>(())
/// ```
///
/// # Errors
///
/// The string is malformed, names something that `system` does not have, or a file with the answer
/// cannot be read.
pub fn parse(text: &str, system: &System) -> Result<Vec<EventGroup>, ParseError> {
    let expression: Expression = text.parse()?;
    let resolver = Resolver::new(text, system);
    let mut groups = Vec::new();
    for group in &expression.groups {
        let members = resolver.group(group)?;
        if group.is_braced {
            groups.push(braced(group, members));
        } else {
            // Without braces each event is a group, so that the letter of one concerns no other.
            let is_leader_sampling = group.events.iter().any(|event| event.modifiers.node.has('S'));
            groups.extend(members.into_iter().map(|event| EventGroup { is_leader_sampling, ..event.into() }));
        }
    }
    Ok(groups)
}

/// Returns the event of a string with exactly one event, by the rules of [`parse`].
///
/// # Errors
///
/// A [`ParseError`] as [`parse`] returns it, or the string has no event or several.
pub fn parse_event(text: &str, system: &System) -> Result<NamedEvent, ParseError> {
    let groups = parse(text, system)?;
    let count: usize = groups.iter().map(|group| group.members.len()).sum();
    let mut events = groups.into_iter().flat_map(EventGroup::into_members);
    events.next().filter(|_| count == 1).ok_or_else(|| {
        let reason = format!("expected one event, found {count}");
        ParseError::new(text, Span { start: 0, end: text.len() }, Problem::Invalid(reason))
    })
}

fn braced(group: &Group, members: Vec<NamedEvent>) -> EventGroup {
    let has = |letter| {
        let mut modifiers = group.events.iter().map(|event| event.modifiers.node);
        group.modifiers.node.has(letter) || modifiers.any(|modifiers| modifiers.has(letter))
    };
    EventGroup {
        name: group.name.as_ref().map(|name| name.node.as_str().into()),
        is_leader_sampling: has('S'),
        is_weak: has('W'),
        ..EventGroup::new(members)
    }
}
