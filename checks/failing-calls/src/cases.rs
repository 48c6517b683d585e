//! The commands that run, each with a workload whose number of events is known.

use std::ffi::OsString;
use std::path::Path;

/// Calls of `getsid` that the workload makes. Calls of other programs have another argument.
pub const CALLS: usize = 20;

/// The product of a command, and how it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// One recording in the folder `out`, with a sample for each call.
    Recording,
    /// Several recordings, with a sample for each call together.
    Recordings,
    /// Profiles, with the number of their samples on standard error.
    Profiles,
    /// A count on standard error.
    Count,
    /// A line on standard error for each call.
    Lines,
    /// Tables on standard output until SIGINT.
    Tables,
}

/// A command that is run.
pub struct Case {
    pub name: &'static str,
    /// Arguments of perfkit. The workload follows, unless `{pid}` is in them. `{out}` is the folder
    /// for the product, `{port}` the port of a collector, `{self}` the argument of the calls.
    pub arguments: &'static [&'static str],
    /// Pause of the workload after each call, in ms.
    pub pause: &'static str,
    pub product: Product,
}

const EVENT: &str = "syscalls:sys_enter_getsid";

pub const CASES: &[Case] = &[
    Case {
        name: "record",
        arguments: &["record", "-c", "1", "-e", EVENT, "-o", "{out}/perf.data", "--"],
        pause: "0",
        product: Product::Recording,
    },
    Case {
        name: "record-all",
        arguments: &[
            "record",
            "-a",
            "-c",
            "1",
            "-e",
            EVENT,
            "--filter",
            "pid == {self}",
            "-o",
            "{out}/perf.data",
            "--",
        ],
        pause: "0",
        product: Product::Recording,
    },
    Case {
        name: "record-stacks",
        arguments: &[
            "record",
            "-z",
            "--call-graph",
            "dwarf",
            "-c",
            "1",
            "-e",
            EVENT,
            "-o",
            "{out}/perf.data",
            "--",
        ],
        pause: "0",
        product: Product::Recording,
    },
    Case {
        name: "record-overwrite",
        arguments: &["record", "--overwrite", "-c", "1", "-e", EVENT, "-o", "{out}/perf.data", "--"],
        pause: "0",
        product: Product::Recording,
    },
    Case {
        name: "record-every",
        arguments: &["record", "--every", "200ms", "-c", "1", "-e", EVENT, "-o", "{out}/perf.data", "--"],
        pause: "20",
        product: Product::Recordings,
    },
    Case {
        name: "record-profiles",
        arguments: &[
            "record", "--every", "200ms", "-f", "pprof", "-c", "1", "-e", EVENT, "-o", "{out}", "--",
        ],
        pause: "20",
        product: Product::Profiles,
    },
    Case {
        name: "record-push",
        arguments: &[
            "record",
            "--every",
            "200ms",
            "-f",
            "pprof",
            "--push",
            "http://127.0.0.1:{port}/ingest?name=x",
            "-c",
            "1",
            "-e",
            EVENT,
            "--",
        ],
        pause: "20",
        product: Product::Profiles,
    },
    Case {
        name: "stat",
        arguments: &["stat", "-x", ",", "-e", EVENT, "--"],
        pause: "0",
        product: Product::Count,
    },
    Case {
        name: "stat-all",
        arguments: &["stat", "-a", "-x", ",", "-e", EVENT, "--filter", "pid == {self}", "--"],
        pause: "0",
        product: Product::Count,
    },
    Case { name: "trace", arguments: &["trace", "-e", "getsid", "--"], pause: "0", product: Product::Lines },
    Case {
        name: "top",
        arguments: &["top", "--stdio", "-d", "0.1", "-c", "1", "-e", EVENT, "-p", "{pid}"],
        pause: "1",
        product: Product::Tables,
    },
];

impl Case {
    /// The arguments with the places filled in.
    pub fn arguments(&self, out: &Path, port: u16, pid: u32, workload: &[OsString]) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = self
            .arguments
            .iter()
            .map(|argument| {
                let argument = argument.replace("{out}", &out.to_string_lossy());
                argument
                    .replace("{port}", &port.to_string())
                    .replace("{pid}", &pid.to_string())
                    .replace("{self}", &std::process::id().to_string())
                    .into()
            })
            .collect();
        if self.product != Product::Tables {
            arguments.extend_from_slice(workload);
        }
        arguments
    }
}
