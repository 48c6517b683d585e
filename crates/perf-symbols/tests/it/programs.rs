//! Compiles programs for the tests, in a folder that is removed on drop.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Programs(PathBuf);

impl Programs {
    /// Creates an empty folder for a test.
    pub(crate) fn empty(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("perf-symbols-{}-{test}", std::process::id()));
        std::fs::create_dir(&folder).expect("a temporary folder");
        Self(folder)
    }

    /// Compiles the programs that most tests need: `history`, the same as `static`, and the
    /// libraries `first.so` and `second.so`. Returns `None` if that fails.
    pub(crate) fn new(test: &str) -> Option<Self> {
        let programs = Self::empty(test);
        programs.compile("first.so", "spin.c", &["-O1", "-shared", "-fPIC"])?;
        programs.compile("second.so", "spin.c", &["-O1", "-shared", "-fPIC", "-DOTHER"])?;
        programs.compile("history", "history.c", &["-O1", "-ldl", "-lpthread"])?;
        programs.compile("static", "history.c", &["-O1", "-static", "-ldl", "-lpthread"])?;
        Some(programs)
    }

    /// Compiles a C, C++ or Rust file in `tests/programs`, with a build id that no cache of this
    /// machine has. Returns `None`, with a message, without its compiler or libraries.
    pub(crate) fn compile(&self, output: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let (compiler, id) = match source.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => ("rustc", "-Clink-arg=-Wl,--build-id=uuid"),
            Some("cpp") => ("c++", "-Wl,--build-id=uuid"),
            _ => ("cc", "-Wl,--build-id=uuid"),
        };
        let path = self.path(output);
        let mut command = Command::new(compiler);
        // Libraries come last.
        command.arg(id).arg("-o").arg(&path).arg(source).args(options).stderr(Stdio::null());
        let is_there = command.status().is_ok_and(|status| status.success());
        if !is_there {
            eprintln!("skipped: {compiler} cannot compile {output}");
        }
        is_there.then_some(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
