use super::Features;
use crate::format::Feature;
use crate::writer::RecordedEvent;
use crate::writer::event::{attr_size, push_attr};

use zerocopy::IntoBytes;

/// A group of events for [`Features::set_groups`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGroup {
    /// The name before the braces; `{anon_group}` if the user gave none, as in the perf tool.
    pub name: String,
    /// Index of the leader in the list of events.
    pub leader: u32,
    /// Number of events, the leader included. They follow each other.
    pub members: u32,
}

impl Features {
    /// Sets [`Feature::EVENT_DESC`]: names, attrs and ids of the events.
    pub fn set_events(&mut self, events: &[RecordedEvent]) {
        let size = attr_size(events);
        self.fill(Feature::EVENT_DESC, |content| {
            content.count(events.len());
            content.u32(size);
            for event in events {
                push_attr(&mut content.0, &event.attr, size);
                content.count(event.ids.len());
                content.text(&event.name);
                content.0.extend_from_slice(event.ids.as_bytes());
            }
        });
    }

    /// Sets [`Feature::GROUP_DESC`].
    pub fn set_groups(&mut self, groups: &[EventGroup]) {
        self.fill(Feature::GROUP_DESC, |content| {
            content.count(groups.len());
            for group in groups {
                content.text(&group.name);
                content.u32(group.leader);
                content.u32(group.members);
            }
        });
    }
}
