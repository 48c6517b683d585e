//! The annotation as text.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use perf_profile::{AnnotatedInstruction, EventId, Profile};
use perf_symbols::{Evidence, SourceLine};

use super::Annotated;
use super::arrows::Arrows;
use super::source::Sources;
use crate::out::color::{Color, colored};
use crate::out::message::{count, file_name, shown};
use crate::report::header::value;
use crate::report::{Percent, Shares};

/// Width of a share, as in the report.
const SHARE: usize = 10;

/// Prints the instructions of a function in lines.
pub(super) fn print(
    out: &mut dyn Write,
    profile: &Profile,
    event: EventId,
    annotated: &Annotated<'_>,
    sources: &mut Sources<'_>,
    is_quiet: bool,
) -> io::Result<()> {
    if !is_quiet {
        print_head(out, profile, event, annotated, sources)?;
    }
    let Annotated { function, annotation } = annotated;
    let lines = &annotation.lines;
    let is_colored = colored(&io::stdout());
    let shares = Shares::new(function.total.value);
    let arrows = Arrows::new(lines.iter().enumerate().filter_map(|(row, line)| {
        let jump = line.instruction.jump?;
        Some((row, lines.binary_search_by_key(&jump, |line| line.instruction.address).ok()?))
    }));
    let width = lines.last().map_or(0, |line| format!("{:x}", line.instruction.address).len());
    let mut last: Option<&SourceLine> = None;
    for (row, line) in lines.iter().enumerate() {
        let source = line.instruction.source.as_ref().filter(|_| sources.is_shown());
        // A line of several columns is one.
        let place = |source: &SourceLine| (source.file.clone(), source.line);
        if let Some(source) = source.filter(|source| last.map(place) != Some(place(source))) {
            let text = source_line(source, sources);
            let margin = format!("{:SHARE$}  {:width$}  {}", "", "", arrows.before(row));
            writeln!(out, "{margin}{}", Color::Yellow.paint(text, is_colored))?;
            last = Some(source);
        }
        print_instruction(out, line, shares, &arrows.row(row), width, is_colored)?;
    }
    Ok(())
}

fn print_instruction(
    out: &mut dyn Write,
    line: &AnnotatedInstruction,
    shares: Shares,
    arrows: &str,
    width: usize,
    is_colored: bool,
) -> io::Result<()> {
    match line.samples.count {
        0 => write!(out, "{:SHARE$}", "")?,
        _ => write!(out, "{}", Percent::new(shares.of(line.samples.value), is_colored))?,
    }
    let instruction = &line.instruction;
    let target = match &instruction.target {
        Some(name) => format!(" <{}>", shown(&**name)),
        None => String::new(),
    };
    writeln!(out, "  {:>width$x}  {arrows}{}{target}", instruction.address, instruction.text)
}

/// Returns the file name, the number and the text of a line.
fn source_line(source: &SourceLine, sources: &mut Sources<'_>) -> String {
    let path = source.file.to_string_lossy();
    let number = source.line.map_or_else(String::new, |line| format!(":{line}"));
    let text = sources.text(source).map_or_else(String::new, |text| format!("  {}", shown(text.trim())));
    format!("{}{number}{text}", shown(file_name(&path)))
}

/// Prints the function, its file, its samples, and what may be wrong.
fn print_head(
    out: &mut dyn Write,
    profile: &Profile,
    event: EventId,
    annotated: &Annotated<'_>,
    sources: &mut Sources<'_>,
) -> io::Result<()> {
    let Annotated { function, annotation } = annotated;
    let locations = profile.locations();
    let object = locations.object(function.object);
    let path = object.map_or("", |object| locations.string(object.path));
    writeln!(out, "# {} in {}", shown(locations.string(function.name)), shown(path))?;
    if let Some(event_of) = profile.event(event) {
        let share = Shares::new(profile.total(event)).of(function.total.value);
        let (samples, total) = (count(function.total.count, "sample"), value(event_of, function.total.value));
        writeln!(out, "# {}: {samples}, {total}, {share:.2} % of the event", shown(&event_of.name))?;
    }
    let path = shown(&annotation.path);
    let doubt = match annotation.evidence {
        Evidence::BuildId => None,
        Evidence::Inode => Some("has no build id; its inode is the recorded one"),
        _ => Some("is known by its path alone: it may be another build"),
    };
    if let Some(doubt) = doubt {
        writeln!(out, "# {path} {doubt}")?;
    }
    if annotation.outside.count > 0 {
        let outside = count(annotation.outside.count, "sample");
        writeln!(out, "# {outside} outside of the function, as the symbols of the file bound it")?;
    }
    if let Some(reason) = annotation.no_lines.filter(|_| sources.is_shown()) {
        writeln!(out, "# source lines are missing: {reason}")?;
    }
    let files: BTreeSet<_> = annotation
        .lines
        .iter()
        .filter_map(|line| Some(Arc::clone(&line.instruction.source.as_ref()?.file)))
        .collect();
    for file in files {
        let is_newer =
            sources.modified(&file).zip(annotation.modified).is_some_and(|(file, code)| file > code);
        if is_newer {
            writeln!(out, "# {} is newer than the program: its lines may differ", shown(&*file))?;
        }
    }
    writeln!(out, "#")
}
