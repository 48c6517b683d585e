use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;

use super::Host;

/// Mount points of tracefs: its own, and that in debugfs of older systems.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Start of the data: three bytes, the word `tracing`, the version.
const MAGIC: &[u8] = b"\x17\x08\x44tracing0.6\0";
/// The system whose formats have a list before those of the others.
const FTRACE: &str = "ftrace";

/// A file of tracefs that is needed to describe a tracepoint.
pub struct TracepointError {
    /// Path below tracefs.
    pub file: String,
    /// The error of the system call.
    pub error: io::Error,
}

impl fmt::Display for TracepointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tracefs: {}: {}", self.file, self.error)
    }
}

impl std::error::Error for TracepointError {}

/// Returns the section [`TRACING_DATA`](crate::format::Feature::TRACING_DATA) for tracepoints, each by
/// its system and name: their formats, from which readers print the fields, and the names of formats and tasks.
///
/// # Errors
///
/// tracefs is not mounted or not readable, or there is no such tracepoint.
pub fn tracing_data<'a>(
    host: &Host,
    tracepoints: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<u8>, TracepointError> {
    let tracefs = tracefs_of(host);
    let mut systems: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (system, name) in tracepoints {
        systems.entry(system).or_default().insert(name);
    }

    let mut data = MAGIC.to_vec();
    data.push(u8::from(cfg!(target_endian = "big")));
    data.push(size_of::<usize>() as u8);
    data.extend((host.page_size()).to_ne_bytes());
    for header in ["header_page", "header_event"] {
        data.extend([header.as_bytes(), b"\0"].concat());
        push_file(&mut data, &tracefs.read(&format!("events/{header}"))?);
    }
    let ftrace = systems.remove(FTRACE).unwrap_or_default();
    tracefs.push_formats(&mut data, FTRACE, &ftrace)?;
    push_count(&mut data, systems.len());
    for (system, names) in systems {
        data.extend([system.as_bytes(), b"\0"].concat());
        tracefs.push_formats(&mut data, system, &names)?;
    }
    push_count(&mut data, 0); // kallsyms, which readers take from elsewhere
    let formats = tracefs.read("printk_formats").unwrap_or_default();
    push_count(&mut data, formats.len());
    data.extend(formats);
    push_file(&mut data, &tracefs.read("saved_cmdlines").unwrap_or_default());
    Ok(data)
}

/// Returns the system and name of the tracepoints with these ids, the `config` of their attrs. Those that are not
/// found are left out.
///
/// It reads the file `id` of each tracepoint until all are found.
pub fn tracepoint_names(host: &Host, ids: &[u64]) -> Vec<(String, String)> {
    let root = format!("{}/events", tracefs_of(host).root);
    let mut names = Vec::new();
    for system in host.entries(&root) {
        for name in host.entries(&format!("{root}/{system}")) {
            if names.len() == ids.len() {
                return names;
            }
            let id = host.number(format!("{root}/{system}/{name}/id"));
            if id.is_some_and(|id| ids.contains(&id)) {
                names.push((system.clone(), name));
            }
        }
    }
    names
}

fn tracefs_of(host: &Host) -> Tracefs<'_> {
    let root = TRACEFS.into_iter().find(|root| host.path(format!("{root}/events")).is_dir());
    Tracefs { host, root: root.unwrap_or(TRACEFS[0]) }
}

/// A mounted tracefs.
struct Tracefs<'h> {
    host: &'h Host,
    root: &'static str,
}

impl Tracefs<'_> {
    fn read(&self, file: &str) -> Result<Vec<u8>, TracepointError> {
        self.host
            .read(format!("{}/{file}", self.root))
            .map_err(|error| TracepointError { file: file.to_owned(), error })
    }

    /// Appends the number of formats and each format.
    fn push_formats(
        &self,
        data: &mut Vec<u8>,
        system: &str,
        names: &BTreeSet<&str>,
    ) -> Result<(), TracepointError> {
        push_count(data, names.len());
        for name in names {
            push_file(data, &self.read(&format!("events/{system}/{name}/format"))?);
        }
        Ok(())
    }
}

fn push_count(data: &mut Vec<u8>, count: usize) {
    data.extend((count as u32).to_ne_bytes());
}

/// Appends the length in 64 bits and the content.
fn push_file(data: &mut Vec<u8>, content: &[u8]) {
    data.extend((content.len() as u64).to_ne_bytes());
    data.extend(content);
}
