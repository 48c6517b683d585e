//! `perfkit annotate`: the instructions of a function with their samples and source lines.

use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};
use perf_profile::{Annotation, EventId, Profile, ProfileBuilder, SampledFunction, Split, Syntax};

mod arrows;
mod json;
mod source;
mod text;

use crate::cli::help;
use crate::out::message::{self, nearest, note, number, of_file, shown};
use crate::recording::{ProfileOptions, single_event};
use source::Sources;

/// Print the instructions of a function with their samples and source lines
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The share of an instruction is of the samples in the function itself, without its callees; functions that are inlined \
     into it are a part of it. Interrupts arrive late, so that a sample of a clock is often at an instruction after the one \
     that took the time. Arrows show the jumps within the function.\n\n\
     The code is read from the program or library, and must have the build id of the recording; the sources from the paths in \
     its debug information. Code of the kernel, and code that was compiled at run time, is in no file.\n\n\
     --json prints one JSON object in the form that docs/annotate-json.md describes.",
    &[
        ("perfkit annotate", "the hottest function"),
        ("perfkit annotate sort_lines", "a function by its name in `perfkit report --no-inline`"),
        ("perfkit annotate -M intel -d libc.so.6 memcmp", ""),
        ("perfkit annotate main --json | jq '.functions[0].instructions[0]'", ""),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// The function by its name, in each object that has it; by default the one with the most samples
    #[arg(value_name = "SYMBOL")]
    symbol: Option<String>,
    /// Accepted as the perf tool has it: the function
    #[arg(long = "symbol", short = 's', hide = true, value_name = "SYMBOL", conflicts_with = "symbol")]
    named: Option<String>,
    /// Syntax of x86 instructions
    #[arg(short = 'M', long, value_enum, value_name = "SYNTAX", default_value = "att")]
    disassembler_style: Style,
    /// Leave out source lines
    #[arg(long)]
    no_source: bool,
    /// Print no lines about the recording
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
    /// Accepted as the perf tool has it: the only form
    #[arg(long, hide = true)]
    stdio: bool,
    /// Accepted as the perf tool has it: the only form
    #[arg(long, hide = true)]
    stdio2: bool,
    #[command(flatten)]
    profile: ProfileOptions,
}

/// The syntax of x86 instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Style {
    /// The source before the target, as objdump and the perf tool print by default
    Att,
    /// The target before the source
    Intel,
}

impl Style {
    fn syntax(self) -> Syntax {
        match self {
            Self::Att => Syntax::Att,
            Self::Intel => Syntax::Intel,
        }
    }
}

/// A function whose code was read.
struct Annotated<'a> {
    function: &'a SampledFunction,
    annotation: Annotation,
}

/// Prints the annotations of a function. Damage is an error, after all that could be read is
/// printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let read = options.profile.profile(ProfileBuilder::new(), Split::default())?;
    let profile = &read.profile;
    let event = single_event(profile, options.profile.source.off_cpu.event())?;
    let functions = SampledFunction::all(profile, event);
    let chosen = options.choose(profile, event, &functions)?;
    let finder = options.profile.source.file_finder(&read.metadata);
    let mut annotated = Vec::new();
    let mut failed = None;
    for function in chosen {
        match Annotation::read(&finder, profile, function, options.disassembler_style.syntax()) {
            Ok(annotation) => annotated.push(Annotated { function, annotation }),
            Err(reason) => {
                let name = profile.locations().string(function.name);
                let object = profile.locations().object(function.object);
                let path = object.map_or("", |object| profile.locations().string(object.path));
                let error = io::Error::other(format!("{} in {}: {reason}", shown(name), shown(path)));
                // Another object may have a function of this name whose code can be read.
                failed.get_or_insert(error);
            }
        }
    }
    if let Some(error) = failed {
        if annotated.is_empty() {
            return Err(error);
        }
        note(error);
    }
    let mut sources = Sources::new((!options.no_source).then_some(&finder));
    let mut out = BufWriter::new(out);
    if options.json {
        let object = json::object(&read.metadata, profile, event, options.disassembler_style, &annotated);
        writeln!(out, "{}", message::json(&object))?;
    } else {
        for (index, annotated) in annotated.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            text::print(&mut out, profile, event, annotated, &mut sources, options.quiet)?;
        }
    }
    out.flush()?;
    drop(out);
    read.finish()
}

impl Options {
    /// Returns the functions of the wanted name, or the hottest one.
    fn choose<'a>(
        &self,
        profile: &Profile,
        event: EventId,
        functions: &'a [SampledFunction],
    ) -> io::Result<Vec<&'a SampledFunction>> {
        let (path, locations) = (self.profile.input.path(), profile.locations());
        let without = match profile.losses().unnamed_samples {
            0 => String::new(),
            1 => "; 1 sample has an address without a name".to_owned(),
            samples => format!("; {} samples have an address without a name", number(samples)),
        };
        let error = |text: String| of_file(path, &io::Error::other(text + &without));
        let Some(wanted) = self.symbol.as_ref().or(self.named.as_ref()) else {
            let name = profile.event(event).map_or("", |event| event.name.as_str());
            let hottest = functions.first().map(|function| vec![function]);
            let none = || error(format!("no sample of {} is in a function with a name", shown(name)));
            return hottest.ok_or_else(none);
        };
        let named: Vec<_> =
            functions.iter().filter(|function| locations.string(function.name) == wanted).collect();
        if !named.is_empty() {
            return Ok(named);
        }
        let has = |function: &&SampledFunction| {
            function.inlined.iter().any(|id| locations.function_name(*id) == wanted)
        };
        let mut around: Vec<_> =
            functions.iter().filter(has).map(|function| shown(locations.string(function.name))).collect();
        around.dedup();
        let wanted = shown(wanted);
        if !around.is_empty() {
            around.truncate(5);
            return Err(error(format!(
                "{wanted} is inlined: annotate the function around it, such as {}",
                around.join(", ")
            )));
        }
        let names = functions.iter().map(|function| locations.string(function.name));
        let nearest = nearest(&wanted, names);
        Err(error(format!("no sample is in a function {wanted}{nearest}")))
    }
}
