//! Whether the functions of a process have names in profiles, and which stacks fit.

use std::io;

use perf_decode::SampleLayout;
use perf_record::runtime::Runtime;
use perf_record::synthesize::Synthesizer;
use perf_session::System;
use perf_session::ring::Attr;
use perf_symbols::{AddressSpaces, PerfMap};

use super::facts::Fact;
use crate::out::message::plain;

/// Returns the facts about a process.
///
/// # Errors
///
/// The files of the process cannot be read.
pub(super) fn read(pid: u32, system: &System) -> io::Result<Vec<Fact>> {
    let name = system.task(pid).comm().map_err(io::Error::other)?;
    let runtime = Runtime::of(pid, system).map_err(io::Error::other)?;
    let is_compiled = "none: it is compiled ahead of time, or its runtime is not known here";
    let stacks = match runtime {
        Some(Runtime::Java) => "-g, if it runs with -XX:+PreserveFramePointer",
        Some(runtime) => runtime.call_graph(),
        None => "--call-graph dwarf; -g if it and its libraries have frame pointers",
    };
    Ok(vec![
        Fact { name: "process", value: format!("{pid} {}", plain(&String::from_utf8_lossy(&name))) },
        Fact {
            name: "runtime",
            value: runtime.map_or(is_compiled.to_owned(), |runtime| runtime.to_string()),
        },
        Fact { name: "names of functions", value: names(pid, runtime, system)? },
        Fact { name: "stacks", value: stacks.to_owned() },
    ])
}

/// Returns where the process writes the names of its functions, or how that is switched on.
fn names(pid: u32, runtime: Option<Runtime>, system: &System) -> io::Result<String> {
    let (attr, mut spaces) = (Attr::default(), AddressSpaces::new());
    let mut running = Synthesizer::new(system, &attr);
    running.process(pid);
    let layout = SampleLayout::new(&attr);
    for record in running.records().records().flatten() {
        spaces.update(&record.decode(&layout).map_err(io::Error::other)?);
    }
    if let Some(jitdump) = spaces.jitdump(pid) {
        return Ok(format!("in {}", plain(&String::from_utf8_lossy(jitdump.path()))));
    }
    let remedy = || {
        let attach = runtime.filter(|runtime| runtime.can_attach()).map(|_| format!("perfkit jit {pid}"));
        attach.or_else(|| Some(format!("start it with {}", runtime?.at_start()?)))
    };
    Ok(match (PerfMap::of_process(&spaces, pid), runtime) {
        (Ok(Some(map)), _) => format!("{} in a perf map", map.len()),
        (Ok(None), None) => "in its files".to_owned(),
        (missing, _) => {
            let reason = missing.err().map_or("no perf map".to_owned(), |reason| reason.to_string());
            match remedy() {
                Some(remedy) => format!("of native code only, {reason}; {remedy}"),
                None => format!("of native code only, {reason}"),
            }
        }
    })
}
