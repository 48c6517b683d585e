//! The BPF programs that are loaded before a recording.

use std::io;

use perf_bpf::{Error, Ids, ObjectKind, ProgramFd};
use perf_record::synthesize::{LoadedFunction, LoadedProgram};
use perf_session::ring::Errno;

/// Returns the loaded programs, none if this user must not list them.
pub(crate) fn loaded() -> io::Result<Vec<LoadedProgram>> {
    let mut programs = Vec::new();
    for id in Ids::new(ObjectKind::Program) {
        let opened = match id.and_then(ProgramFd::open_id) {
            Err(error) if error.errno() == Some(Errno::EPERM) => return Ok(Vec::new()),
            opened => opened?,
        };
        // `None` if it was unloaded meanwhile.
        if let Some(program) = opened {
            programs.push(describe(&program)?);
        }
    }
    Ok(programs)
}

fn describe(program: &ProgramFd) -> Result<LoadedProgram, Error> {
    let (info, functions) = (program.info()?, program.functions()?);
    let functions = functions.iter();
    Ok(LoadedProgram {
        id: info.id,
        tag: info.tag,
        name: info.name.as_bytes().to_vec(),
        functions: functions
            .map(|function| LoadedFunction { address: function.address, len: function.len })
            .collect(),
    })
}
