//! A directory with the files of a machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_session::System;

const FILES: &str = include_str!("../../data/event_strings/machines.txt");

/// A temporary directory with the files of a machine. It is removed when dropped.
pub(crate) struct Machine {
    root: PathBuf,
    system: System,
}

impl Machine {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("event-strings-{}-{number}", std::process::id()));
        Self { system: System::at(&root), root }
    }

    pub(crate) fn system(&self) -> &System {
        &self.system
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.system.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.replace("\\n", "\n").replace("\\t", "\t") + "\n").unwrap();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Returns the recorded machines by name.
pub(crate) fn machines() -> BTreeMap<&'static str, Machine> {
    let machines: BTreeMap<_, _> = ["amd", "hybrid", "intel"].map(|name| (name, Machine::new())).into();
    for line in FILES.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.splitn(3, ' ');
        let mut column = || columns.next().unwrap();
        let (name, path, content) = (column(), column(), column());
        for (_, machine) in machines.iter().filter(|(known, _)| name == "*" || name == **known) {
            machine.write(path, content);
        }
    }
    machines
}
