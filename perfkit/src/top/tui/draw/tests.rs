//! The text of the screen for a view, a zoom, a filter and a size.

use std::{env, fs};

use clap::Parser as _;
use perf_abi::{Attr, Software};
use perf_decode::LostCounts;
use perf_profile::{Event, Frame as FunctionFrame, Function, Locations, Object, ProfileBuilder};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::*;
use crate::top::Options;
use crate::top::reader::Numbers;
use crate::top::screen::{Moment, Subject};

/// The options of a command line.
#[derive(clap::Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

/// Returns a moment with a process of this number of threads, which call `work` and one of ten
/// functions.
fn moment(threads: u32) -> Moment {
    let mut locations = Locations::new();
    let path = locations.intern("/usr/lib/x86_64-linux-gnu/libexample.so.1");
    let object = locations.add_object(Object::new(path));
    let mut locate = |name: &str, address: u64| {
        let location = locations.add(Some(object), address);
        let name = locations.intern(name);
        let function = locations.add_function(Function { name, file: None });
        locations.set_frames(location, [FunctionFrame { function, line: 0, column: 0 }]);
        location
    };
    let work = locate("work", 0);
    let functions: Vec<_> =
        (1..=10).map(|n| locate(&format!("example::module::function_{n}\u{1b}[31m"), n)).collect();
    let mut builder = ProfileBuilder::new();
    let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
    let name = locations.intern("worker");
    for tid in 0..threads {
        let thread = builder.thread(100, 100 + tid, name);
        let index = tid as usize % functions.len();
        let stack = builder.stack(&[functions[index], work]);
        for _ in 0..=index {
            builder.sample(event, thread, stack, 1_000_000);
        }
    }
    let numbers = Numbers {
        seconds: 2.0,
        samples: 1998,
        kernel_samples: 99,
        lost: LostCounts::new(3, 0),
        lost_in_all: LostCounts::new(10, 0),
        skipped: 0,
    };
    Moment { profile: builder.finish(locations).into(), numbers, ..Moment::default() }
}

fn state(threads: u32) -> State {
    let Cli { options } = Cli::parse_from(["top", "-n"]);
    let subject = Subject {
        events: "cpu-clock".to_owned(),
        rate: "at 999 Hz".to_owned(),
        target: "all CPUs (2)".to_owned(),
    };
    let mut state = State::new(&options, subject);
    state.update(moment(threads));
    state
}

fn press(state: &mut State, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\u{8}' => KeyCode::Esc,
            'v' => KeyCode::PageDown,
            character => KeyCode::Char(character),
        };
        assert!(state.key(KeyEvent::from(code)).is_continue());
    }
}

/// Returns the lines of a screen of this size.
fn screen(state: &mut State, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = buffer.content.chunks(width.into()).map(|cells| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

#[test]
fn screens_are_those_of_the_snapshots() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/top");
    if !fs::exists(folder).unwrap() {
        return eprintln!("skipped: the package has no snapshots");
    }
    for (name, keys, threads, width, height) in [
        ("functions-80x24", "", 20, 80, 24),
        ("functions-200x60", "", 20, 200, 60),
        ("threads-80x24", "4v", 2000, 80, 24),
        ("zoom-80x24", "4\n", 2000, 80, 24),
        ("filter-80x24", "/_(9|10)$\n/_1.*m\nf", 20, 80, 24),
        ("help-80x24", "?", 20, 80, 24),
    ] {
        let mut state = state(threads);
        screen(&mut state, width, height);
        press(&mut state, keys);
        let text = screen(&mut state, width, height);
        let path = format!("{folder}/{name}.txt");
        if env::var_os("PERFKIT_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&path).unwrap_or_default(), "{name}");
    }
}

#[test]
fn every_size_of_a_terminal_and_every_key_is_drawn() {
    let mut state = state(50);
    for (width, height) in [(1, 1), (3, 2), (10, 5), (80, 3), (400, 100)] {
        for key in "?x4vv\n\u{8}\u{8}/(\n/x\n\u{8}snef1234 ".chars() {
            press(&mut state, &key.to_string());
            assert!(!screen(&mut state, width, height).contains('\u{1b}'));
        }
    }
}

#[test]
fn frozen_screen_shows_the_newest_samples_when_it_continues() {
    let mut state = state(3);
    press(&mut state, "4f");
    let before = screen(&mut state, 80, 24);
    assert!(before.contains("FROZEN") && before.contains("3 rows"), "{before}");
    state.update(moment(7));
    assert_eq!(screen(&mut state, 80, 24), before);
    press(&mut state, "f");
    assert!(screen(&mut state, 80, 24).contains("7 rows"));
}

#[test]
fn quit_is_a_key_unless_an_expression_is_typed() {
    let mut state = state(3);
    press(&mut state, "/q\n");
    assert!(state.filter.is_some());
    assert!(state.key(KeyEvent::from(KeyCode::Char('q'))).is_break());
}
