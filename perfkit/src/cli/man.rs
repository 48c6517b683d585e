//! `perfkit man`: manual pages, one for each command.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory as _, ValueHint};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::Arguments;
use crate::cli::help;
use crate::out::message::of_file;
use crate::out::output_path::create_folders;
use crate::out::whole_file;

/// Write manual pages, one for each command
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "",
    &[
        ("perfkit man .", "writes perfkit.1, perfkit-record.1 and so on"),
        ("perfkit man /usr/local/share/man/man1", "where man finds them"),
        ("man -l perfkit-record.1", "shows one that is elsewhere"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// Folder for the pages, which is created if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

/// Writes the pages.
pub(crate) fn run(options: &Options) -> io::Result<()> {
    create_folders(&options.folder).map_err(|error| of_file(&options.folder, &error))?;
    for (name, page) in pages()? {
        whole_file::write(&options.folder.join(name), |out| out.write_all(&page))?;
    }
    Ok(())
}

/// Returns the pages with the names of their files.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    fn add(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        pages.push((format!("{name}.1"), page(command)?));
        command.get_subcommands().filter(|inner| !inner.is_hide_set()).try_for_each(|inner| add(inner, pages))
    }
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(&command, &mut pages)?;
    Ok(pages)
}

/// Returns the page of a command. The generator's sections are used except where they would join
/// the lines of examples or of a custom usage.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man =
        Man::new(command.clone()).source(format!("perfkit {}", env!("CARGO_PKG_VERSION"))).manual("perfkit");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim);
    lines("SYNOPSIS", usage, true).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, tables) = help::split(&after);
    paragraphs(notes).to_writer(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    for (title, rows) in tables {
        lines(&title.to_uppercase(), rows.lines().map(|row| row.strip_prefix("  ").unwrap_or(row)), false)
            .to_writer(&mut page)?;
    }
    if command.get_display_name().is_some_and(|name| name.contains('-')) {
        lines("SEE ALSO", ["perfkit(1)"].into_iter(), false).to_writer(&mut page)?;
    }
    Ok(page)
}

/// Returns a section whose lines stay as they are.
fn lines<'a>(title: &str, lines: impl Iterator<Item = &'a str>, are_bold: bool) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]).control("nf", []);
    for line in lines {
        roff.text([if are_bold { bold(line) } else { roman(line) }]);
    }
    roff.control("fi", []);
    roff
}

/// Returns paragraphs of text, which are separated by empty lines.
fn paragraphs(text: &str) -> Roff {
    let mut roff = Roff::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        roff.control("PP", []).text([roman(paragraph)]);
    }
    roff
}
