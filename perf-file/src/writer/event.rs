use perf_abi::Attr;
use zerocopy::IntoBytes;

/// An event of a recording: its attr, its name, and the ids of all its file descriptors (one for each
/// CPU or thread).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The attr with which the event was opened.
    pub attr: Attr,
    /// The name by which tools print the event.
    pub name: String,
    /// The ids, as `PERF_EVENT_IOC_ID` returns them.
    pub ids: Vec<u64>,
}

impl RecordedEvent {
    /// Returns an event without ids, which is enough if there is only one event.
    pub fn new(attr: Attr, name: impl Into<String>) -> Self {
        Self { attr, name: name.into(), ids: Vec::new() }
    }

    /// Adds ids.
    #[must_use]
    pub fn with_ids(mut self, ids: impl IntoIterator<Item = u64>) -> Self {
        self.ids.extend(ids);
        self
    }
}

/// The published lengths from `PERF_ATTR_SIZE_VER5` on, which all supported versions of the perf tool read.
const SIZES: [u32; 5] = [Attr::SIZE_VER5, Attr::SIZE_VER6, Attr::SIZE_VER7, Attr::SIZE_VER8, Attr::SIZE_VER9];

/// Returns the smallest published length that holds every field that an event sets.
///
/// The perf tool cannot read attrs that are longer than those that it knows.
pub(crate) fn attr_size(events: &[RecordedEvent]) -> u32 {
    let fits = |size: u32| {
        events.iter().all(|event| {
            let rest = event.attr.as_bytes().get(size as usize..).unwrap_or_default();
            rest.iter().all(|byte| *byte == 0)
        })
    };
    SIZES.into_iter().find(|size| fits(*size)).unwrap_or(Attr::SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::Software;

    #[test]
    fn attr_has_the_shortest_length_that_holds_its_fields() {
        let plain = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock");
        assert_eq!(attr_size(std::slice::from_ref(&plain)), Attr::SIZE_VER5);
        let mut long = plain.clone();
        long.attr.sig_data = 1;
        assert_eq!(attr_size(&[plain.clone(), long.clone()]), Attr::SIZE_VER7);
        long.attr.config4 = 1;
        assert_eq!(attr_size(&[long, plain]), Attr::SIZE_VER9);
    }
}
