//! Programs in C that the tests compile, in a folder that is removed at the end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Programs(PathBuf);

impl Programs {
    /// Compiles the programs: `history`, the same as `static`, and the libraries `first.so` and `second.so`. `None`
    /// without a C compiler or libraries for static programs, and says so.
    pub(crate) fn new(test: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("perf-symbols-{}-{test}", std::process::id()));
        std::fs::create_dir(&folder).expect("a temporary folder");
        let programs = Self(folder);
        let is_complete = programs.compile("first.so", "spin.c", &["-shared", "-fPIC"])
            && programs.compile("second.so", "spin.c", &["-shared", "-fPIC", "-DOTHER"])
            && programs.compile("history", "history.c", &["-ldl", "-lpthread"])
            && programs.compile("static", "history.c", &["-static", "-ldl", "-lpthread"]);
        if !is_complete {
            eprintln!("skipped: no C compiler that links static programs");
        }
        is_complete.then_some(programs)
    }

    /// Compiles a source file in `tests/programs`, with a build id that no cache of this machine has.
    pub(crate) fn compile(&self, output: &str, source: &str, options: &[&str]) -> bool {
        self.compile_by("cc", output, source, options)
    }

    pub(crate) fn compile_by(&self, compiler: &str, output: &str, source: &str, options: &[&str]) -> bool {
        self.run(Command::new(compiler).args(["-O1", "-Wl,--build-id=uuid"]).args(options), output, source)
    }

    pub(crate) fn compile_rust(&self, output: &str, source: &str, options: &[&str]) -> bool {
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        self.run(Command::new(compiler).arg("-Clink-arg=-Wl,--build-id=uuid").args(options), output, source)
    }

    fn run(&self, compiler: &mut Command, output: &str, source: &str) -> bool {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let output = self.path(output);
        compiler.arg(source).arg("-o").arg(output).stderr(Stdio::null());
        compiler.status().is_ok_and(|status| status.success())
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
