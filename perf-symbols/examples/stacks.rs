//! Prints the stacks of a `perf.data` file in the folded form, which flame graphs are made of.
//!
//! Usage: `stacks FILE`, of `perf record -g` or `perf record --call-graph dwarf,32768`.

use std::error::Error;

use perf_abi::regs::Architecture;
use perf_file::format::Feature;
use perf_file::{FeatureData, Reader};
use perf_symbols::{BuildId, FileFinder, Unwinder};

mod folded;

fn main() -> Result<(), Box<dyn Error>> {
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
    if let Some(section) = reader.feature(Feature::BUILD_ID)? {
        if let Ok(FeatureData::BuildIds(ids)) = section.section().data() {
            for file in &ids {
                if let Some(id) = BuildId::new(file.build_id) {
                    folded.spaces.add_build_id(file.filename, id);
                }
            }
        }
    }
    while let Some(record) = reader.next()? {
        if record.kernel().is_some() {
            folded.add(&record.decode()?);
        }
    }
    folded.print();
    Ok(())
}
