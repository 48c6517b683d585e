//! The title and subtitle, by default: the recording, and what it lost.

use std::collections::HashSet;
use std::path::Path;

use perf_profile::read::Metadata;
use perf_profile::{EventId, Profile};

use super::svg::short_title;
use crate::out::message::{count, file_name, number, shown};

/// Returns the title of a recording: its event, and the program that was recorded.
pub(super) fn title(about: &Metadata, profile: &Profile, file: &Path, event: &str) -> String {
    let recorded = recorded(about.command.as_deref().unwrap_or_default(), profile);
    let name = if recorded.is_empty() { shown(file) } else { recorded.join(" ") };
    // The command may be long, and the event must stay.
    short_title(&format!("{event}: {name}"))
}

/// Returns the recorded program with its arguments, which are the end of the tool's command line
/// from the first word that is the name of a thread. Without such a word, all words are returned.
fn recorded(command: &[String], profile: &Profile) -> Vec<String> {
    let names: HashSet<&str> =
        profile.threads().iter().map(|thread| profile.locations().string(thread.name)).collect();
    // The kernel truncates names of threads.
    let name = |word: &str| file_name(word).chars().take(15).collect::<String>();
    let is_program = |word: &String| names.contains(name(word).as_str());
    let start = command.iter().skip(1).position(is_program).map_or(0, |start| start + 1);
    let mut words = command.get(start..).unwrap_or_default().to_vec();
    if let Some(program) = words.first_mut() {
        *program = file_name(program).to_owned();
    }
    words
}

/// Returns the title of a comparison.
pub(super) fn comparison(base: &Path, file: &Path, event: &str) -> String {
    let [base, file] = names(base, file);
    short_title(&format!("{event}: {file} compared with the base {base}"))
}

/// Returns the names of two recordings, without folders if the names differ.
pub(super) fn names(base: &Path, file: &Path) -> [String; 2] {
    let name = |path: &Path| path.file_name().map(shown);
    match (name(base), name(file)) {
        (Some(base), Some(file)) if base != file => [base, file],
        _ => [shown(base), shown(file)],
    }
}

/// Returns the number of samples and the losses. Zero losses are printed too.
pub(super) fn counts(profile: &Profile, event: EventId) -> String {
    format!("{}, {}", count(profile.sample_count(event), "sample"), losses(profile))
}

/// Returns the number of samples and the losses, each with the number of the base.
pub(super) fn counts_beside((profile, event): (&Profile, EventId), base: (&Profile, EventId)) -> String {
    let numbers = |profile: &Profile, event| {
        let losses = profile.losses();
        [profile.sample_count(event), losses.lost.total(), losses.incomplete()].map(number)
    };
    let ([samples, lost, incomplete], base) = (numbers(profile, event), numbers(base.0, base.1));
    let [base_samples, base_lost, base_incomplete] = base;
    format!(
        "samples: {samples} (base {base_samples}), lost: {lost} ({base_lost}), \
         incomplete stacks: {incomplete} ({base_incomplete})"
    )
}

/// Returns the losses.
pub(super) fn losses(profile: &Profile) -> String {
    let losses = profile.losses();
    format!("{}, {}", losses.lost, count(losses.incomplete(), "incomplete stack"))
}

#[cfg(test)]
mod tests {
    use perf_profile::{Locations, ProfileBuilder};

    use super::*;

    #[test]
    fn title_has_the_recorded_command_or_else_the_file() {
        let mut about = Metadata::default();
        let (mut builder, mut locations) = (ProfileBuilder::new(), Locations::new());
        builder.thread(1, 1, locations.intern("a-name-of-many-"));
        let profile = builder.finish(locations);
        let title = |about: &Metadata, file: &Path, event: &str| title(about, &profile, file, event);
        assert_eq!(title(&about, Path::new("a/\u{1b}.data"), "cycles"), "cycles: a/\\u{1b}.data");
        about.command = Some(["/usr/bin/perf", "record", "x"].map(str::to_owned).to_vec());
        assert_eq!(title(&about, Path::new("a"), "cycles"), "cycles: perf record x");
        about.command =
            Some(["perf", "record", "-g", "./a-name-of-many-letters", "x"].map(str::to_owned).to_vec());
        assert_eq!(title(&about, Path::new("a"), "cycles"), "cycles: a-name-of-many-letters x");
        about.command = Some(vec!["x".repeat(200)]);
        let long = title(&about, Path::new("a"), "cycles");
        assert!(long.starts_with("cycles: xxx") && long.ends_with('\u{2026}') && long.chars().count() == 88);
    }

    #[test]
    fn recordings_of_the_same_name_have_their_folders() {
        assert_eq!(names(Path::new("a/x.data"), Path::new("b/y.data")), ["x.data", "y.data"]);
        assert_eq!(names(Path::new("a/x.data"), Path::new("b/x.data")), ["a/x.data", "b/x.data"]);
    }
}
