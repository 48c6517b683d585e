//! Tracepoints: their ids in tracefs.

use perf_sys::Attr;

use crate::{Cause, Evidence, Explanation, FileError, System};

/// The mount points of tracefs, the newer one first.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"];

/// Explains `EINVAL` for a tracepoint.
pub(super) fn explain(system: &System, attr: &Attr) -> Option<Explanation> {
    let (root, categories) = match events(system) {
        Ok(found) => found,
        Err(error) => return Some(no_tracefs(&error)),
    };
    let id = attr.config;
    for category in categories {
        for name in system.list(format!("{root}/{category}")).unwrap_or_default() {
            let path = format!("{root}/{category}/{name}/id");
            if system.read(&path).is_ok_and(|text| text.trim().parse() == Ok(id)) {
                return is_function(&category, &name).then(|| function(&path, id));
            }
        }
    }
    let text = format!("no tracepoint has the id {id}");
    let remedy = "read the id from the tracepoint's file `id` at each start: it changes with the kernel";
    Some(
        Explanation::new(Cause::NoSuchTracepoint, text, remedy)
            .with(Evidence::new(root, format!("without id {id}"))),
    )
}

/// Returns the directory of the tracepoints and the names in it.
fn events(system: &System) -> Result<(&'static str, Vec<String>), FileError> {
    let [first, second] = TRACEFS;
    match system.list(first) {
        Ok(names) => Ok((first, names)),
        Err(error) => system.list(second).map(|names| (second, names)).map_err(|_| error),
    }
}

/// Explains a directory of tracepoints that cannot be read.
fn no_tracefs(error: &FileError) -> Explanation {
    let (text, remedy) = if error.is_not_found() {
        ("unknown tracepoint, and tracefs is not mounted", "mount -t tracefs nodev /sys/kernel/tracing")
    } else {
        ("unknown tracepoint, and tracefs cannot be read", "run as root, or chmod a+rx /sys/kernel/tracing")
    };
    let path = error.path().display().to_string();
    Explanation::new(Cause::Tracefs, text, remedy).with(Evidence::of_file::<&str>(&path, Err(error)))
}

fn is_function(category: &str, name: &str) -> bool {
    category == "ftrace" && name == "function"
}

fn function(path: &str, id: u64) -> Explanation {
    Explanation::new(
        Cause::FunctionTracepoint,
        "ftrace:function records kernel functions only, without callchains and stacks of user space, and needs the \
         function tracer",
        "set EXCLUDE_USER and EXCLUDE_CALLCHAIN_USER, or use a kprobe or fentry program",
    )
    .with(Evidence::new(path, id))
}
