//! The end of each `--help`: notes, examples and exit codes.
//!
//! Each command has `#[command(after_help = help::end(NOTES, EXAMPLES, EXIT))]`, and a snapshot of
//! its help in `tests/snapshots/help`. `PERFKIT_BLESS=1 cargo test -p perfkit --bin perfkit help`
//! writes the snapshots anew.

/// Rows of a table of two columns.
type Rows = &'static [(&'static str, &'static str)];

/// The code of a wrong command line, as the parser returns it.
const USAGE: (&str, &str) = ("2", "wrong arguments");

/// Exit codes of a command that reads or prints something.
pub(crate) const EXIT: Rows = &[("0", "success"), ("1", "failure, with the reason on standard error"), USAGE];

/// Exit codes of a command that runs a program of the user, by the rules of a shell.
pub(crate) const EXIT_OF_PROGRAM: Rows = &[
    ("0", "success; without CMD, also after Ctrl-C"),
    ("1", "failure, with the reason on standard error"),
    USAGE,
    ("126", "CMD cannot be executed"),
    ("127", "CMD does not exist"),
    ("128+N", "signal N killed CMD"),
    ("other", "exit status of CMD"),
];

/// Exit codes of `stat`, which can compare.
pub(crate) const EXIT_OF_STAT: Rows = &[
    ("0", "success; without CMD, also after Ctrl-C"),
    ("1", "failure, with the reason on standard error"),
    USAGE,
    ("3", "an event grew by more than --fail-above"),
    ("126", "CMD cannot be executed"),
    ("127", "CMD does not exist"),
    ("128+N", "signal N killed CMD"),
    ("other", "exit status of CMD"),
];

/// Returns the text after the options. Each example is a command line and its purpose, both short
/// enough for a line of 100 columns.
pub(crate) fn end(notes: &str, examples: Rows, exit: Rows) -> String {
    let mut text = String::new();
    if !notes.is_empty() {
        text.push_str(notes);
        text.push_str("\n\n");
    }
    table(&mut text, "Examples:", examples);
    text.push('\n');
    table(&mut text, "Exit status:", exit);
    text
}

/// Returns the notes of a text that [`end`] made, and its tables with their titles.
pub(crate) fn split(text: &str) -> (&str, Vec<(&str, &str)>) {
    let tables: Vec<_> = text
        .split("\n\n")
        .filter_map(|part| part.split_once(":\n").filter(|(_, rows)| rows.starts_with("  ")))
        .collect();
    let notes = tables.first().and_then(|(title, _)| text.split_once(&format!("{title}:\n")));
    (notes.map_or(text, |(notes, _)| notes).trim_end(), tables)
}

fn table(text: &mut String, title: &str, rows: Rows) {
    text.push_str(title);
    text.push('\n');
    // Without the rows that need no explanation, which are the long ones.
    let explained = rows.iter().filter(|(_, right)| !right.is_empty());
    let width = explained.map(|(left, _)| left.len()).max().unwrap_or(0);
    for (left, right) in rows {
        text.push_str(format!("  {left:<width$}  {right}").trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use std::{env, fs};

    use clap::{Command, CommandFactory as _};

    use crate::Arguments;

    fn folder() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/help")
    }

    /// Returns whether these commands have snapshots, which are made with all features.
    fn has_snapshots() -> bool {
        let reason = match folder().exists() {
            _ if !cfg!(all(feature = "annotate", feature = "flamegraph")) => "the program lacks a command",
            false => "the package has no snapshots",
            true => return true,
        };
        eprintln!("skipped: {reason}");
        false
    }

    /// Returns the help of each command as `--help` prints it, with the words of the command.
    fn helps() -> Vec<(Vec<String>, String)> {
        fn names(command: &Command, words: &[String], all: &mut Vec<Vec<String>>) {
            all.push(words.to_owned());
            for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
                names(inner, &[words, &[inner.get_name().to_owned()]].concat(), all);
            }
        }
        // The width of the terminal must not matter.
        let command = Arguments::command().term_width(100);
        let mut all = Vec::new();
        names(&command, &["perfkit".to_owned()], &mut all);
        let help = |words: Vec<String>| {
            let arguments = words.iter().map(String::as_str).chain(["--help"]);
            let help = command.clone().try_get_matches_from(arguments).unwrap_err().to_string();
            // Without the blanks that the parser leaves on empty lines.
            let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
            (words, lines.join("\n") + "\n")
        };
        all.into_iter().map(help).collect()
    }

    /// Returns the name of the snapshot of a command.
    fn file_name(words: &[String]) -> String {
        format!("{}.txt", words.join("-"))
    }

    #[test]
    fn help_of_each_command_is_that_of_its_snapshot() {
        if !has_snapshots() {
            return;
        }
        let is_blessed = env::var_os("PERFKIT_BLESS").is_some();
        let mut different = Vec::new();
        for (words, help) in helps() {
            let path = folder().join(file_name(&words));
            if fs::read_to_string(&path).is_ok_and(|known| known == help) {
                continue;
            }
            if is_blessed {
                fs::write(&path, help).unwrap();
            } else {
                different.push(words);
            }
        }
        let how = "PERFKIT_BLESS=1 cargo test -p perfkit --bin perfkit help";
        assert!(different.is_empty(), "{different:?}: not as in tests/snapshots/help; `{how}` writes them");
    }

    #[test]
    fn each_snapshot_belongs_to_a_command() {
        if !has_snapshots() {
            return;
        }
        let names: BTreeSet<String> = helps().iter().map(|(words, _)| file_name(words)).collect();
        for entry in fs::read_dir(folder()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(names.contains(&name), "no command has the help {name}");
        }
    }

    #[test]
    fn readme_shows_each_command() {
        let readme = include_str!("../../README.md");
        for (words, _) in helps() {
            let name = words.join(" ");
            assert!(readme.contains(&name), "perfkit/README.md has no line for `{name}`");
        }
    }

    #[test]
    fn each_help_has_examples_and_exit_codes_in_lines_of_100_columns() {
        for (words, help) in helps() {
            let name = words.join(" ");
            let examples =
                help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{name}: no examples")).1;
            let (examples, exit) =
                examples.split_once("\nExit status:\n").unwrap_or_else(|| panic!("{name}"));
            assert!(examples.contains(&name), "{name}: no example of it");
            // The rest of an example that is too long for a line is in the next one.
            assert!(examples.lines().all(|line| line.contains("perfkit")), "{name}: {examples}");
            assert!(exit.contains("  0 ") && exit.contains("  2 "), "{name}: {exit}");
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "{name}: {line}");
            }
        }
    }
}
