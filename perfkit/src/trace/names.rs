//! The names of running and exited threads.

use std::collections::HashMap;

use perf_decode::{Layout, Record};
use perf_session::System;

use crate::out::message::shown;

/// Maximum number of cached names. With more, all are forgotten and read again, and only the names
/// of exited threads become unknown.
const MAX_NAMES: usize = 1 << 16;

/// Names of threads, from `COMM` and `FORK` records, or from `/proc` for a thread that began before
/// them.
///
/// Unlike a recording, a trace has no synthesized records of earlier processes, because reading all
/// processes would take longer than most traces.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<u32, String>);

impl Names {
    /// Applies a record.
    pub(super) fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        match record {
            Record::Comm(comm) => {
                self.insert(comm.tid(), shown(String::from_utf8_lossy(comm.comm()).as_ref()));
            }
            Record::Fork(fork) => {
                let name = self.get(fork.ptid()).to_owned();
                self.insert(fork.tid(), name);
            }
            _ => {}
        }
    }

    /// Returns the name of a thread, `:TID` if it is unknown.
    pub(super) fn get(&mut self, tid: u32) -> &str {
        if !self.0.contains_key(&tid) {
            self.insert(tid, of_proc(tid));
        }
        self.0.get(&tid).map_or("", String::as_str)
    }

    fn insert(&mut self, tid: u32, name: String) {
        if self.0.len() >= MAX_NAMES {
            self.0.clear();
        }
        self.0.insert(tid, name);
    }
}

fn of_proc(tid: u32) -> String {
    if tid == 0 {
        return "swapper".to_owned();
    }
    match System::new().task(tid).comm() {
        Ok(name) => shown(String::from_utf8_lossy(name.trim_ascii_end()).as_ref()),
        Err(_) => format!(":{}", tid.cast_signed()),
    }
}
