//! The screen as text.

use perf_session::text_width;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::rows::Row;
use super::state::State;
use crate::out::message::{count, shown};
use crate::report::text::fitting;

/// Width of a share, with a blank after it, and of a number of samples.
const SHARE: usize = 9;
const COUNT: usize = 10;

/// The keys, with what each does.
const HELP: &[(&str, &str)] = &[
    ("q, Ctrl-C", "quit"),
    ("1 2 3 4, Tab", "functions, objects, processes, threads"),
    ("Enter", "the process or thread with the cursor alone"),
    ("Esc", "back: to the process, to all, without the filter"),
    ("/", "rows that match a regular expression"),
    ("f, blank", "freeze the screen, or continue"),
    ("s", "sort by Self, or by Children"),
    ("e", "the next event"),
    ("n", "numbers of samples"),
    ("Up Down j k", "move the cursor"),
    ("PgUp PgDn Home End", "move by a screen, or to an end"),
];

/// Draws the screen.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let rows = [Constraint::Length(2), Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)];
    let [head, titles, table, foot] = Layout::vertical(rows).areas(frame.area());
    state.height = table.height.into();
    state.keep_selected();
    frame.render_widget(Paragraph::new(head_lines(state)), head);
    let widths = widths(state, table.width.into());
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(titles_line(state, &widths)).style(reversed), titles);
    let visible = state.rows.list.iter().enumerate().skip(state.first).take(state.height);
    let lines: Vec<_> = visible
        .map(|(index, row)| {
            let line = row_line(state, row, &widths);
            if index == state.selected { line.style(Style::new().add_modifier(Modifier::BOLD)) } else { line }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), table);
    frame.render_widget(Paragraph::new(foot_line(state)), foot);
    if state.has_help {
        draw_help(frame);
    }
}

fn head_lines(state: &State) -> Vec<Line<'static>> {
    let mut second = vec![state.subject.text()];
    if let Some(pid) = state.zoom.pid {
        second.push(format!("process {pid} alone"));
    }
    if let Some(tid) = state.zoom.tid {
        second.push(format!("thread {tid} alone"));
    }
    if state.rows.events > 1 {
        second.push(format!("shown: {}", shown(&state.rows.event)));
    }
    if let Some(filter) = &state.filter {
        second.push(format!("filter {}", shown(filter.as_str())));
    }
    // Looking up the names in large programs takes seconds.
    let is_started = state.moment.numbers.seconds > 0.0;
    let numbers = if is_started { state.moment.text() } else { "naming the first functions".to_owned() };
    let mut first = vec![Span::raw(format!("perfkit top: {numbers}"))];
    if state.is_frozen {
        first.push(Span::styled(", FROZEN", Style::new().add_modifier(Modifier::BOLD)));
    }
    vec![Line::from(first), Line::from(second.join(", "))]
}

/// Returns the width of each column of text. The last column has the rest of the line.
fn widths(state: &State, width: usize) -> Vec<usize> {
    let keys = state.keys();
    let numbers = SHARE * (1 + usize::from(state.rows.has_total)) + COUNT * usize::from(state.has_counts);
    let mut left = width.saturating_sub(numbers);
    let last = keys.len().saturating_sub(1);
    let visible = || state.rows.list.iter().skip(state.first).take(state.height);
    let mut widths = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let longest = visible().filter_map(|row| row.texts.get(index)).map(|text| text_width(text)).max();
        let wanted = longest.unwrap_or(0).max(key.title.len()) + 2;
        // Long paths of libraries leave most of the line to the functions.
        let width = if index == last { left } else { wanted.min(left / 3).min(left) };
        widths.push(width);
        left -= width;
    }
    widths
}

fn titles_line(state: &State, widths: &[usize]) -> String {
    let mut titles = Vec::new();
    if state.rows.has_total {
        titles.push(format!("{:>8} ", "Children"));
    }
    titles.push(format!("{:>8} ", if state.rows.has_total { "Self" } else { "Overhead" }));
    if state.has_counts {
        titles.push(format!("{:>9} ", "Samples"));
    }
    titles.extend(state.keys().iter().zip(widths).map(|(key, width)| cell(key.title, *width)));
    titles.concat()
}

fn row_line(state: &State, row: &Row, widths: &[usize]) -> Line<'static> {
    let shares = state.rows.shares;
    let mut spans = Vec::new();
    if state.rows.has_total {
        spans.push(share(shares.of(row.cost.total_value)));
    }
    spans.push(share(shares.of(row.cost.self_value)));
    if state.has_counts {
        let samples = if state.rows.has_total { row.cost.total_count } else { row.cost.self_count };
        spans.push(Span::raw(format!("{samples:>9} ")));
    }
    spans.extend(row.texts.iter().zip(widths).map(|(text, width)| Span::raw(cell(text, *width))));
    Line::from(spans)
}

/// Returns a share in the colors of the perf tool.
fn share(percent: f64) -> Span<'static> {
    let style = match percent {
        5.0.. => Style::new().fg(Color::Red),
        0.5.. => Style::new().fg(Color::Green),
        _ => Style::new(),
    };
    Span::styled(format!("{percent:>7.2}% "), style)
}

/// Returns a text padded or cut to its column, with at least one blank after it.
fn cell(text: &str, width: usize) -> String {
    let kept: String = text.chars().take(fitting(text.chars(), width.saturating_sub(1))).collect();
    let blanks = width.saturating_sub(text_width(&kept));
    kept + &" ".repeat(blanks)
}

fn foot_line(state: &State) -> String {
    match (&state.input, &state.error) {
        (Some(input), _) => format!("/{}_", shown(input)),
        (None, Some(error)) => format!("not a regular expression: {}", shown(error)),
        (None, None) => {
            let rows = count(state.rows.list.len() as u64, "row");
            format!("{rows}; q quit  ? keys  / filter  f freeze  1-4 view  Enter zoom  Esc back")
        }
    }
}

fn draw_help(frame: &mut Frame<'_>) {
    let area = frame.area();
    let (width, height) = (74.min(area.width), (HELP.len() as u16 + 2).min(area.height));
    let (x, y) = ((area.width - width) / 2, (area.height - height) / 2);
    let area = Rect { x, y, width, height };
    let lines: Vec<_> = HELP.iter().map(|(keys, text)| Line::from(format!(" {keys:<19} {text}"))).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title(" keys; any key goes back ")),
        area,
    );
}

#[cfg(test)]
mod tests;
