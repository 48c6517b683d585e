//! The cgroups of the events.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::Options;
use crate::measure::events::NamedGroup;
use crate::measure::target::open_cgroup;
use crate::out::message::{self, shown};

/// The directories of cgroups by name, each opened once.
#[derive(Default)]
struct Directories<'o>(BTreeMap<&'o OsStr, Arc<OwnedFd>>);

impl<'o> Directories<'o> {
    /// Returns the group for a cgroup, and the name of the cgroup. The empty name stands for an
    /// event without a cgroup.
    fn apply(&mut self, name: &'o OsStr, mut group: NamedGroup) -> io::Result<(NamedGroup, String)> {
        if name.is_empty() {
            return Ok((group, String::new()));
        }
        let dir = match self.0.get(name) {
            Some(dir) => Arc::clone(dir),
            None => Arc::new(open_cgroup(name)?.into()),
        };
        self.0.insert(name, Arc::clone(&dir));
        group.events = group.events.in_cgroup(dir);
        Ok((group, shown(name)))
    }
}

/// Returns the groups in their cgroups, with the names of the cgroups, by the rules of the perf
/// tool: `--for-each-cgroup` repeats all events for each cgroup. A single cgroup of `-G` is for all
/// events before it; several are for one event each.
pub(super) fn assign(options: &Options, groups: Vec<NamedGroup>) -> io::Result<Vec<(NamedGroup, String)>> {
    let mut directories = Directories::default();
    if !options.for_each_cgroup.is_empty() {
        let each = options.for_each_cgroup.iter();
        let pairs = each.flat_map(|name| groups.iter().cloned().map(move |group| (name, group)));
        return pairs.map(|(name, group)| directories.apply(name, group)).collect();
    }
    let names = by_event(options.target.cgroups(), &groups)?;
    let mut names = names.into_iter();
    let in_cgroup = |group: NamedGroup| {
        let names: Vec<&OsStr> = names.by_ref().take(group.events.members().len()).collect();
        let name = names.first().copied().unwrap_or_default();
        if names.iter().any(|other| *other != name) {
            return Err(io::Error::other(
                "the events of a group `{...}` have one cgroup: repeat its name in -G",
            ));
        }
        directories.apply(name, group)
    };
    groups.into_iter().map(in_cgroup).collect()
}

/// Returns the name of the cgroup of each event, empty for an event without a cgroup.
fn by_event<'o>(names: &'o [OsString], groups: &[NamedGroup]) -> io::Result<Vec<&'o OsStr>> {
    let has_events_before = groups.iter().any(|group| !group.is_after_cgroup);
    let is_for_all = |group: &NamedGroup| !has_events_before || !group.is_after_cgroup;
    let events = groups.iter().flat_map(|group| group.events.members().iter().map(move |_| group));
    if let [name] = names {
        let name_of = |group| if is_for_all(group) { name.as_os_str() } else { OsStr::new("") };
        return Ok(events.map(name_of).collect());
    }
    let count = events.count();
    if names.len() > count {
        let cgroups = message::count(names.len() as u64, "cgroup");
        let found = format!("{cgroups} for {}", message::count(count as u64, "event"));
        let advice = "-G has one for each event; `--for-each-cgroup` counts all events in each";
        return Err(io::Error::other(format!("{found}: {advice}")));
    }
    let all = names.iter().map(OsString::as_os_str).chain(std::iter::repeat(OsStr::new("")));
    Ok(all.take(count).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_session::{System, parse};

    fn names(cgroups: &[&str], events: &[(&str, bool)]) -> Result<Vec<String>, String> {
        let mut groups = Vec::new();
        for (events, is_after_cgroup) in events {
            let parsed = parse(events, &System::new()).unwrap();
            groups.extend(
                parsed
                    .into_iter()
                    .map(|group| NamedGroup { is_after_cgroup: *is_after_cgroup, ..group.into() }),
            );
        }
        let cgroups: Vec<OsString> = cgroups.iter().map(OsString::from).collect();
        let names = by_event(&cgroups, &groups).map_err(|error| error.to_string())?;
        Ok(names.into_iter().map(|name| name.to_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn single_cgroup_is_for_the_events_before_it() {
        let events = [("faults,{cpu-clock,task-clock}", false), ("faults", true)];
        assert_eq!(names(&["a"], &events).unwrap(), ["a", "a", "a", ""]);
        assert_eq!(
            names(&["a"], &[("faults,cpu-clock", true)]).unwrap(),
            ["a", "a"],
            "with no event before it"
        );
    }

    #[test]
    fn several_cgroups_are_for_one_event_each() {
        let events = [("faults,cpu-clock,task-clock", false)];
        assert_eq!(names(&["a", "", "b"], &events).unwrap(), ["a", "", "b"]);
        assert_eq!(names(&["a", "b"], &events).unwrap(), ["a", "b", ""]);
        assert_eq!(names(&[], &events).unwrap(), ["", "", ""]);
        let error = names(&["a", "b", "c", "d"], &events).unwrap_err();
        assert!(error.starts_with("4 cgroups for 3 events: "), "{error}");
    }
}
