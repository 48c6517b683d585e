//! Trees with the files of another machine, for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::System;

/// A temporary directory that stands for `/`. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct Tree(System);

impl Tree {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("perf-session-{}-{number}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Self(System::at(root))
    }

    pub(crate) fn system(&self) -> &System {
        &self.0
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, absolute: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path(absolute);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes the files of a PMU: their names below its directory, and contents.
    pub(crate) fn pmu(&self, name: &str, files: &[(&str, &str)]) {
        for (file, content) in files {
            self.file(Path::new("/sys/bus/event_source/devices").join(name).join(file), content);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.path("/"));
    }
}
