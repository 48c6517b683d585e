//! Prints the stacks of a `perf.data` file in the folded form, which flame graphs are made of.
//!
//! Usage: `stacks FILE`, of `perf record -g` or `perf record --call-graph dwarf,32768`.

use std::error::Error;
use std::process::ExitCode;

use perf_abi::regs::Architecture;
use perf_file::format::Feature;
use perf_file::{FeatureData, Reader};
use perf_symbols::{BuildId, FileFinder, Unwinder};

mod folded;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("expected the path of a perf.data file")?;
    let mut reader = Reader::open(path)?.sorted();
    let architecture = match reader.arch()?.as_deref() {
        Some("x86_64") => Architecture::X86_64,
        Some("aarch64") => Architecture::ARM64,
        _ => Architecture::NATIVE,
    };
    // Files of another machine need a build id, and a place: `FileFinder::remote().with_symfs(...)`.
    let finder = FileFinder::local();
    let mut folded = folded::Folded::new(Unwinder::new(architecture, finder.clone()), finder)?;
    // A truncated file ends before its features, and has records all the same.
    if let Ok(Some(section)) = reader.feature(Feature::BUILD_ID) {
        if let Ok(FeatureData::BuildIds(ids)) = section.section().data() {
            for file in &ids {
                if let Some(id) = BuildId::new(file.build_id) {
                    folded.spaces.add_build_id(file.filename, id);
                }
            }
        }
    }
    let mut malformed = 0_u64;
    // A damaged or truncated file has an error after its last whole record: print what was read first.
    let end = loop {
        match reader.next() {
            Ok(Some(record)) if record.kernel().is_some() => match record.decode() {
                Ok(record) => folded.add(&record),
                Err(_) => malformed += 1,
            },
            Ok(Some(_)) => {}
            end => break end.map(drop),
        }
    };
    folded.print();
    if malformed > 0 {
        eprintln!("{malformed} records cannot be decoded");
    }
    Ok(end?)
}
