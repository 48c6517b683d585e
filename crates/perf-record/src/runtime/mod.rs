//! Language runtimes, whose functions have names in a profile only if the runtime writes them.

mod attach;
mod environment;

use std::fmt;

use perf_session::{FileError, System};

pub use attach::{AttachError, Attached};
pub use environment::{Variable, name_functions};

/// Runtime that interprets or compiles a program while it runs.
///
/// ```
/// use perf_record::runtime::Runtime;
/// use perf_record::session::System;
///
/// # fn main() -> Result<(), perf_record::session::FileError> {
/// if let Some(runtime) = Runtime::of(std::process::id(), &System::new())? {
///     println!("{runtime}: record it with {}", runtime.call_graph());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Runtime {
    /// `CPython` 3, with its minor version.
    Python(u32),
    /// Node.js.
    Node,
    /// A Java virtual machine (`HotSpot`).
    Java,
    /// .NET, from .NET Core on.
    DotNet,
    /// Ruby's reference implementation.
    Ruby,
    /// `LuaJIT`.
    LuaJit,
}

impl Runtime {
    /// Returns the runtime of a process by the names of the files that it has mapped, the one at
    /// the lowest address if it has several; `None` if none of them is a known runtime's, as in
    /// programs that are compiled ahead of time.
    ///
    /// # Errors
    ///
    /// The list of mappings cannot be read; [`FileError::is_not_found`] if the process has exited.
    pub fn of(pid: u32, system: &System) -> Result<Option<Self>, FileError> {
        let mappings = system.task(pid).mappings()?;
        let mut names = mappings.iter().filter_map(|mapping| mapping.path.file_name()?.to_str());
        Ok(names.find_map(Self::of_file))
    }

    /// Returns the runtime that a program or a library of this name has.
    fn of_file(name: &str) -> Option<Self> {
        let library = |stem: &str| {
            name.strip_prefix(stem)
                .is_some_and(|rest| rest.contains(".so") && !rest.starts_with(char::is_alphabetic))
        };
        let python = name.strip_prefix("libpython3.").or_else(|| name.strip_prefix("python3."));
        if let Some(version) = python {
            let digits = version.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(version.len());
            let rest = version.get(digits..)?;
            // As `libpython3.13d.so.1.0` and `python3.13t`, but not `python3.13-config`.
            let is_runtime = rest.is_empty() || rest.contains(".so") || ["d", "t", "td"].contains(&rest);
            return version.get(..digits)?.parse().ok().filter(|_| is_runtime).map(Self::Python);
        }
        match name {
            "node" | "nodejs" => Some(Self::Node),
            "libjvm.so" => Some(Self::Java),
            "libcoreclr.so" => Some(Self::DotNet),
            "ruby" => Some(Self::Ruby),
            "luajit" => Some(Self::LuaJit),
            _ if library("libnode") => Some(Self::Node),
            _ if library("libruby") => Some(Self::Ruby),
            _ if library("libluajit") => Some(Self::LuaJit),
            _ => None,
        }
    }

    /// Returns the option of `perfkit record` for the kind of stacks that reaches the callers of
    /// the functions.
    pub const fn call_graph(self) -> &'static str {
        match self {
            // Compiled code keeps frame pointers: Python from 3.15 on (PEP 831), Java with the
            // option that `--jit` sets.
            Self::Python(15..) | Self::Node | Self::Java | Self::DotNet => "-g",
            Self::Python(_) | Self::Ruby | Self::LuaJit => "--call-graph dwarf",
        }
    }

    /// Returns what gives the functions names if the program is started anew, a variable of its
    /// environment; `None` if the runtime never writes names.
    pub const fn at_start(self) -> Option<&'static str> {
        match self {
            Self::Python(12..) => Some("PYTHONPERFSUPPORT=1"),
            Self::Python(_) | Self::LuaJit => None,
            Self::Node => Some("NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack'"),
            Self::Java => Some(
                "JAVA_TOOL_OPTIONS='-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer' (Java 17 \
                 and newer)",
            ),
            Self::DotNet => Some("DOTNET_PerfMapEnabled=1"),
            Self::Ruby => Some("RUBYOPT=--yjit-perf (Ruby 3.3 and newer), for what YJIT compiles"),
        }
    }

    /// Returns whether [`attach`](Self::attach) is possible.
    pub const fn can_attach(self) -> bool {
        matches!(self, Self::Python(14..) | Self::Java)
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Python(minor) => write!(f, "Python 3.{minor}"),
            Self::Node => f.write_str("Node.js"),
            Self::Java => f.write_str("Java"),
            Self::DotNet => f.write_str(".NET"),
            Self::Ruby => f.write_str("Ruby"),
            Self::LuaJit => f.write_str("LuaJIT"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn runtime_is_known_by_the_names_of_its_files() {
        for (name, runtime) in [
            ("python3.12", Runtime::Python(12)),
            ("python3.13t", Runtime::Python(13)),
            ("libpython3.11.so.1.0", Runtime::Python(11)),
            ("libpython3.14d.so.1.0", Runtime::Python(14)),
            ("node", Runtime::Node),
            ("libnode.so.108", Runtime::Node),
            ("libjvm.so", Runtime::Java),
            ("libcoreclr.so", Runtime::DotNet),
            ("libruby-3.1.so.3.1.2", Runtime::Ruby),
            ("libruby.so.3.3", Runtime::Ruby),
            ("libluajit-5.1.so.2", Runtime::LuaJit),
        ] {
            assert_eq!(Runtime::of_file(name), Some(runtime), "{name}");
        }
    }

    #[test]
    fn other_files_are_no_runtime() {
        for name in [
            "python3",
            "python3.",
            "python3.13-config",
            "python2.7",
            "libnodes.so",
            "libpython3.so",
            "ruby.txt",
            "",
        ] {
            assert_eq!(Runtime::of_file(name), None, "{name}");
        }
    }

    #[test]
    fn runtime_of_a_process_is_found_in_its_mappings() {
        let root = std::env::temp_dir().join(format!("perf-record-runtime-{}", std::process::id()));
        fs::create_dir_all(root.join("proc/7")).unwrap();
        fs::write(
            root.join("proc/7/maps"),
            "00400000-00401000 r-xp 00000000 08:01 11 /usr/bin/app\n\
             7f0000000000-7f0000001000 r-xp 00000000 08:01 12 /usr/lib/libpython3.12.so.1.0\n",
        )
        .unwrap();
        let found = Runtime::of(7, &System::at(&root));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found.unwrap(), Some(Runtime::Python(12)));
        assert!(Runtime::of(u32::MAX, &System::new()).unwrap_err().is_not_found());
    }
}
