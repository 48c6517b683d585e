//! A thread that switches on request.

use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use rustix::thread::{CpuSet, sched_setaffinity};

/// A thread on CPU 0 that makes as many context switches as each order says, and exits when the
/// sender of the orders is dropped.
pub(crate) struct Switcher {
    pub(crate) tid: u32,
    pub(crate) order: Sender<u64>,
    pub(crate) thread: JoinHandle<()>,
}

impl Switcher {
    pub(crate) fn spawn() -> Self {
        let (send_tid, tid) = channel();
        let (order, orders) = channel();
        let thread = thread::spawn(move || {
            let mut cpu = CpuSet::new();
            cpu.set(0);
            sched_setaffinity(None, &cpu).unwrap();
            send_tid.send(super::tid()).unwrap();
            orders.iter().for_each(super::switch);
        });
        Self { tid: tid.recv().unwrap(), order, thread }
    }

    /// Ends the thread, and waits for it.
    pub(crate) fn exit(self) {
        drop(self.order);
        self.thread.join().unwrap();
    }
}
