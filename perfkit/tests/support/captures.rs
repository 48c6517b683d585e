//! The captured recordings, in a folder without the files that they name.

use std::fs::{self, File};
use std::path::Path;
use std::process::Output;
use std::time::SystemTime;

use super::recording::{Folder, perfkit};

/// Copies of the captures, without files or symbols even on the machine that made them, because
/// their modification time is before the boot and the folder `root` is empty.
pub(crate) struct Captures(Folder);

impl Captures {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        fs::create_dir(folder.path("root")).unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data");
        for entry in fs::read_dir(data).unwrap() {
            let path = entry.unwrap().path();
            let copy = folder.path(path.file_name().and_then(|name| name.to_str()).unwrap());
            fs::copy(path, &copy).unwrap();
            File::options().append(true).open(copy).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        Self(folder)
    }

    /// Runs `perfkit` in the folder, so that no output has its path.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        perfkit().args(words).args(["--symfs", "root"]).current_dir(self.0.path("")).output().unwrap()
    }
}
