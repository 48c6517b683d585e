//! Probes of a made-up machine and of this one.

use super::*;
use crate::system::System;
use crate::system::tree::Tree;

mod describe;
mod elf_file;
mod lookup;
mod register;

/// Returns a tree with the PMUs of probes.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.pmu("kprobe", &[("type", "6\n"), ("format/retprobe", "config:0\n")]);
    tree.pmu(
        "uprobe",
        &[("type", "7\n"), ("format/retprobe", "config:0\n"), ("format/ref_ctr_offset", "config:32-63\n")],
    );
    tree
}

fn error<T: fmt::Debug>(found: Result<T, ProbeError>) -> String {
    found.unwrap_err().to_string()
}
