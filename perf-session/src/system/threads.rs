use crate::system::System;
use crate::system::file_error::FileError;

/// Returns the threads of process `pid`, by their ids, the main thread first.
///
/// The list is a snapshot: threads start and exit while it is read. [`EventSetTarget::process`] follows them.
///
/// # Errors
///
/// `/proc/PID/task` cannot be read; [`FileError::is_not_found`] if the process has exited.
///
/// [`EventSetTarget::process`]: crate::EventSetTarget::process
pub fn threads_of(system: &System, pid: u32) -> Result<Vec<u32>, FileError> {
    let path = system.path(format!("/proc/{pid}/task"));
    let read = || {
        let mut threads = Vec::new();
        for entry in std::fs::read_dir(&path)? {
            let name = entry?.file_name();
            threads.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        Ok(threads)
    };
    let mut threads: Vec<u32> = read().map_err(|error| FileError::io(path.clone(), error))?;
    threads.sort_by_key(|&tid| (tid != pid, tid));
    Ok(threads)
}
