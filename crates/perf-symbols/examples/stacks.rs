//! Prints the stacks of a `perf.data` file in the folded form of flame graphs.
//!
//! Usage: `stacks FILE`, with a file of `perf record -g` or `perf record --call-graph dwarf,32768`.

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
    // For another machine use `FileFinder::remote().with_symfs(...)`; files need a build id then.
    let finder = FileFinder::local();
    let mut folded = folded::Folded::new(Unwinder::new(architecture, finder.clone()), finder)?;
    // A truncated file has records but no features.
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
    // A damaged or truncated file ends with an error: print the records before it first.
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
