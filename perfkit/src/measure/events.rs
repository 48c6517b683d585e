//! The events that the user names, with their filters.

use std::ffi::CString;
use std::io;

use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use perf_session::ring::{Errno, EventType};
use perf_session::{EventGroup, EventSet, NamedEvent, Refreshed, System};

use crate::out::message::{note, shown};

/// The options `-e` and `--filter`, in their order.
#[derive(Clone, Debug)]
pub(crate) struct EventOptions(Vec<EventText>);

/// The events of one `-e`.
#[derive(Clone, Debug)]
struct EventText {
    events: String,
    filter: Option<CString>,
    is_after_cgroup: bool,
}

/// Events of one group, or a single event.
#[derive(Clone, Debug)]
pub(crate) struct NamedGroup {
    pub(crate) events: EventGroup,
    /// Applies to all events of the group.
    pub(crate) filter: Option<CString>,
    /// Whether the `-e` follows the last `-G`, which is for the events before it in the perf tool.
    pub(crate) is_after_cgroup: bool,
}

impl From<EventGroup> for NamedGroup {
    fn from(events: EventGroup) -> Self {
        Self { events, filter: None, is_after_cgroup: false }
    }
}

impl NamedGroup {
    /// Returns the filter of each event, for [`set_filters`].
    pub(crate) fn filters(&self) -> Vec<Option<CString>> {
        vec![self.filter.clone(); self.events.members().len()]
    }
}

impl EventOptions {
    /// Parses the events, or `default` if the user named none.
    pub(crate) fn parse(&self, default: &str, system: &System) -> io::Result<Vec<NamedGroup>> {
        let default = [EventText { events: default.to_owned(), filter: None, is_after_cgroup: false }];
        let mut groups = Vec::new();
        for text in if self.is_empty() { &default[..] } else { &self.0[..] } {
            for events in perf_session::parse(&text.events, system).map_err(io::Error::other)? {
                if let Some(event) = events.members().iter().find(|event| !is_tracepoint(event))
                    && text.filter.is_some()
                {
                    let name = event.name();
                    return Err(io::Error::other(format!("{name}: `--filter` is for tracepoints only")));
                }
                let (filter, is_after_cgroup) = (text.filter.clone(), text.is_after_cgroup);
                groups.push(NamedGroup { events, filter, is_after_cgroup });
            }
        }
        Ok(groups)
    }

    /// Iterates over the texts of the events, with their filters.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, Option<&CString>)> {
        self.0.iter().map(|text| (text.events.as_str(), text.filter.as_ref()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_tracepoint(event: &NamedEvent) -> bool {
    event.specs().iter().all(|spec| spec.attr().kind == EventType::TRACEPOINT)
}

/// Sets the filter of each event of a set. `filters` has one for each logical event.
pub(crate) fn set_filters(set: &EventSet, filters: &[Option<CString>]) -> io::Result<()> {
    for opened in set.events() {
        let Some(filter) = filters.get(opened.index).and_then(Option::as_ref) else { continue };
        match opened.event.set_filter(filter) {
            // Since an earlier call.
            Err(error) if error.errno() == Some(Errno::EEXIST) => {}
            Err(error) if error.errno() == Some(Errno::EINVAL) => {
                let (event, filter) = (opened.event, shown(filter.to_string_lossy().as_ref()));
                return Err(io::Error::other(format!(
                    "{event}: the kernel does not accept the filter `{filter}`: expected comparisons of fields \
                     of the tracepoint, as in `prev_pid == 0 && prev_comm ~ \"sh*\"`"
                )));
            }
            set => set.map_err(|error| io::Error::other(format!("{}: {error}", opened.event)))?,
        }
    }
    Ok(())
}

/// Prints which CPUs went offline and came online.
pub(crate) fn note_refreshed(Refreshed { closed, opened, .. }: &Refreshed) {
    if !closed.is_empty() {
        note(format_args!("CPU {closed} is offline, or was offline briefly"));
    }
    if !opened.is_empty() {
        note(format_args!("CPU {opened}: online, events opened"));
    }
}

impl Args for EventOptions {
    fn augment_args(command: Command) -> Command {
        let event = Arg::new("event").short('e').long("event").value_name("EVENTS").action(ArgAction::Append);
        let filter = Arg::new("filter").long("filter").value_name("FILTER").action(ArgAction::Append);
        command
            .arg(event.help(
                "Events, as the perf tool names them: `cycles:u`, `sched:sched_switch`, `{cycles,instructions}`",
            ))
            .arg(filter.help("Only hits of the tracepoints of the last -e whose fields match, as `prev_pid == 0`"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EventOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let values = |id: &str| {
            let values = matches.get_many::<String>(id).into_iter().flatten().cloned();
            values.zip(matches.indices_of(id).into_iter().flatten()).collect::<Vec<_>>()
        };
        let (events, filters) = (values("event"), values("filter"));
        // Not each command has cgroups.
        let has_cgroups = matches.try_contains_id("cgroup").unwrap_or(false);
        let cgroup = has_cgroups.then(|| matches.indices_of("cgroup")?.max()).flatten();
        let text = |(events, index)| {
            let is_after_cgroup = cgroup.is_some_and(|cgroup| cgroup < index);
            (index, EventText { events, filter: None, is_after_cgroup })
        };
        let mut texts: Vec<(usize, EventText)> = events.into_iter().map(text).collect();
        for (filter, index) in filters {
            let Some((_, text)) = texts.iter_mut().rev().find(|(event, _)| *event < index) else {
                let text = "--filter needs a tracepoint before it: -e EVENT --filter FILTER\n";
                return Err(Error::raw(ErrorKind::MissingRequiredArgument, text));
            };
            // Several filters must all match, as in the perf tool.
            let filter = match &text.filter {
                Some(first) => format!("({}) && ({filter})", first.to_string_lossy()),
                None => filter,
            };
            let filter =
                CString::new(filter).map_err(|error| Error::raw(ErrorKind::ValueValidation, error))?;
            text.filter = Some(filter);
        }
        Ok(Self(texts.into_iter().map(|(_, text)| text).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
