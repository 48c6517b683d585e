//! A naive model of tables and trees.

use crate::profile::{EventId, Profile, UNKNOWN};

/// A function of a stack: its name, the path of its object, and whether it is in the kernel.
pub(super) type Named = (String, String, bool);

/// A sample: its event, the name of its thread, its functions innermost first, its value and count.
pub(super) struct Naive {
    pub(super) event: EventId,
    pub(super) comm: String,
    pub(super) stack: Vec<Named>,
    pub(super) value: u64,
    pub(super) count: u64,
}

pub(super) fn samples(profile: &Profile) -> Vec<Naive> {
    let locations = profile.locations();
    let mut samples = Vec::new();
    for sample in profile.samples() {
        let mut stack = Vec::new();
        for location in profile.stack(sample.stack) {
            let object = locations.object_path(location).to_owned();
            let is_kernel = locations.get(location).is_kernel;
            let frames = locations.frames(location);
            let names = frames.iter().map(|frame| locations.function_name(frame.function).to_owned());
            stack.extend(names.map(|name| (name, object.clone(), is_kernel)));
            if frames.is_empty() {
                stack.push((UNKNOWN.to_owned(), object, is_kernel));
            }
        }
        if stack.is_empty() {
            stack.push((UNKNOWN.to_owned(), UNKNOWN.to_owned(), false));
        }
        samples.push(Naive {
            event: sample.event,
            comm: profile.thread_name(sample.thread).to_owned(),
            stack,
            value: sample.value,
            count: sample.count,
        });
    }
    samples
}
