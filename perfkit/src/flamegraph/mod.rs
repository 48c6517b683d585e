//! `perfkit flamegraph`: a recording as an SVG picture.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use perf_profile::read::ReadProfile;
use perf_profile::{EventId, Folded, Profile, ProfileBuilder, Unit};

mod difference;
mod palette;
mod stacks;
mod svg;
mod titles;

use palette::Palette;
use svg::{Look, Picture};

use crate::cli::help;
use crate::out::message::{note, shown};
use crate::out::whole_file;
use crate::recording::{
    InputOptions, ProfileOptions, QuantumOptions, Root, losses, note_losses, single_event,
};

/// Draw a recording as a flame graph: an SVG file for a browser
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The width of a frame is its share of the samples. Click a frame to see its callees in the full width, and press Ctrl-F to \
     search.\n\n\
     Palette `origin` colors functions of the kernel orange, inlined ones light blue, addresses without a name grey, and others \
     blue: hues and lightnesses that people with a color deficiency distinguish. Comparisons are red for more than in the base, \
     and blue for less; --root comm keeps the threads of programs with the same name apart.\n\n\
     The crate inferno draws, under the licence CDDL-1.0. A picture contains its script.",
    &[
        ("perfkit flamegraph", "draw perf.data into flamegraph.svg"),
        ("perfkit flamegraph -e page-faults --comm sort -o x.svg", ""),
        ("perfkit flamegraph --reverse --inverted", "the hottest functions and their callers"),
        ("perfkit flamegraph --off-cpu --wakers", "where threads wait, and who wakes them"),
        ("perfkit flamegraph --diff old.data new.data --normalize", "what became slower"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// The output; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "flamegraph.svg")]
    output: PathBuf,
    /// Title [default: the event and the recorded command]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Line below the title [default: numbers of samples, lost ones and incomplete stacks]; losses are added
    #[arg(long, value_name = "TEXT")]
    subtitle: Option<String>,
    /// Width in pixels [default: that of the window]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(100..))]
    width: Option<u16>,
    /// Leave out frames that are narrower, in percent of all
    #[arg(long, value_name = "PERCENT", default_value_t = svg::MIN_WIDTH, value_parser = crate::report::percent)]
    min_width: f64,
    /// Colors of the frames
    #[arg(long, value_name = "NAME", default_value = "origin", value_parser = palette::parser())]
    palette: Palette,
    /// Put the innermost frames first: all samples of a function are together, then come its callers
    #[arg(long)]
    reverse: bool,
    /// Draw from the top to the bottom
    #[arg(long)]
    inverted: bool,
    /// The outermost frame [default: comm; of --diff none, because programs that are compared may have other names]
    #[arg(long, value_enum, value_name = "FRAME")]
    root: Option<Root>,
    #[command(flatten)]
    quantum: QuantumOptions,
    /// Numbers of samples in place of the sums of their periods
    #[arg(long)]
    counts: bool,
    /// Compare two recordings: draw NEW, and color what differs from BASE
    #[arg(long, num_args = 2, value_names = ["BASE", "NEW"], conflicts_with_all = ["input", "file", "palette"])]
    diff: Option<Vec<PathBuf>>,
    /// Scale BASE to the sum of NEW, so that the colors show shares
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    profile: ProfileOptions,
}

/// A recording that was read.
struct Input {
    path: PathBuf,
    profiled: ReadProfile,
}

/// Draws a recording, or the difference of two. Damage is an error, after all that could be read is
/// drawn.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    // Checked here, because the parser drops a requirement for an option that conflicts with a
    // given option.
    if options.normalize && options.diff.is_none() {
        note("--normalize is an option of --diff");
        return Ok(ExitCode::from(2));
    }
    let inputs = options.read()?;
    let is_standard = options.output == Path::new("-");
    let written = options.picture(&inputs).and_then(|picture| {
        whole_file::write_private(&options.output, |out| picture.write(out))?;
        if !is_standard {
            let what = if options.output.is_file() { "; open it in a browser" } else { "" };
            note(format_args!("{}: {}{what}", shown(&options.output), picture.subtitle));
        }
        Ok(())
    });
    if let Err(error) = &written
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        // The reader of standard output closed it, so notes are left out.
        return written.map(|()| ExitCode::SUCCESS);
    }
    let mut result = written;
    for Input { path, profiled } in inputs {
        if options.diff.is_some() && !losses(&profiled.profile).0.is_empty() {
            note(format_args!("{}:", shown(&path)));
        }
        note_losses(&profiled.profile);
        if let Err(damage) = profiled.finish() {
            // The first error is the error of the command, which is printed last.
            if result.is_ok() {
                result = Err(damage);
            } else {
                note(damage);
            }
        }
    }
    result.map(|()| ExitCode::SUCCESS)
}

impl Options {
    /// Reads the recording, or both recordings of a comparison, the base first.
    fn read(&self) -> io::Result<Vec<Input>> {
        let files: Vec<InputOptions> = match &self.diff {
            Some(files) => files.iter().map(InputOptions::of_file).collect(),
            None => vec![self.profile.input.clone()],
        };
        let read = |input: InputOptions| {
            let profiled = self.profile.source.profile(
                &input,
                ProfileBuilder::new(),
                self.quantum.apply(self.root().split()),
            )?;
            self.root().check(&profiled.metadata)?;
            Ok(Input { path: input.path().to_owned(), profiled })
        };
        files.into_iter().map(read).collect()
    }

    fn picture(&self, inputs: &[Input]) -> io::Result<Picture> {
        let mut picture = match inputs {
            [base, new] => self.difference(base, new)?,
            [input] => {
                let profile = &input.profiled.profile;
                let event = sampled_event(input, self.profile.source.off_cpu.event())?;
                let name = name_of(profile, event);
                let title = titles::title(&input.profiled.metadata, profile, &input.path, &name);
                let folded = self.folded(event).with_annotations();
                let mut picture = draw(profile, event, &folded, title)?;
                if self.counts {
                    picture.count_samples();
                }
                picture
            }
            _ => return Err(io::Error::other("no recording")),
        };
        if picture.total() == 0 {
            let text = "all samples have the value 0: `--counts` draws their numbers";
            return Err(io::Error::other(text));
        }
        if self.reverse {
            stacks::reverse(&mut picture.lines);
        }
        picture.look = Look {
            width: self.width,
            min_width: self.min_width,
            palette: self.palette,
            is_inverted: self.inverted,
        };
        if let Some(title) = &self.title {
            picture.title = stacks::text(title);
        }
        if let Some(subtitle) = &self.subtitle {
            let lost = inputs.iter().filter(|input| {
                let losses = input.profiled.profile.losses();
                !losses.lost.is_empty() || losses.incomplete() > 0
            });
            let lost: Vec<_> =
                lost.map(|input| format!("; {}", titles::losses(&input.profiled.profile))).collect();
            let lost = lost.concat();
            let space = picture.look.subtitle_len().saturating_sub(lost.chars().count());
            picture.subtitle = svg::shortened(&stacks::text(subtitle), space) + &lost;
        }
        Ok(picture)
    }

    fn root(&self) -> Root {
        self.root.unwrap_or(if self.diff.is_some() { Root::None } else { Root::Comm })
    }

    fn folded(&self, event: EventId) -> Folded {
        let folded = Folded::new(event);
        self.root().apply(if self.counts { folded.with_counts() } else { folded })
    }
}

/// Returns the picture of an event's values with default options.
fn draw(profile: &Profile, event: EventId, folded: &Folded, title: String) -> io::Result<Picture> {
    let is_time = profile.event(event).is_some_and(|event| event.unit == Unit::Nanoseconds);
    Ok(Picture {
        lines: stacks::lines(profile, folded)?,
        is_difference: false,
        title,
        subtitle: stacks::text(&titles::counts(profile, event)),
        unit: if is_time { "us".to_owned() } else { stacks::text(&name_of(profile, event)) },
        per_unit: if is_time { 1000 } else { 1 },
        look: Look::default(),
    })
}

/// Returns the event to draw, which has samples.
fn sampled_event(input: &Input, preferred: Option<&str>) -> io::Result<EventId> {
    let profile = &input.profiled.profile;
    let event = single_event(profile, preferred)?;
    if profile.sample_count(event) == 0 {
        let (file, name) = (shown(&input.path), name_of(profile, event));
        let text = format!(
            "{file}: no samples of {name} to draw: the recording has none, or the options choose none of them"
        );
        return Err(io::Error::other(text));
    }
    Ok(event)
}

fn name_of(profile: &Profile, event: EventId) -> String {
    profile.event(event).map(|event| event.name.clone()).unwrap_or_default()
}
