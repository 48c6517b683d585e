//! The screen between two keys.

use std::ops::ControlFlow;

use perf_profile::Order;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use regex_lite::Regex;

use super::rows::{Choice, Rows, View, Zoom};
use crate::report::sort::SortKey;
use crate::top::Options;
use crate::top::screen::{Moment, Subject};

/// The samples, and what the user chose to see of them.
#[derive(Debug)]
pub(super) struct State {
    pub(super) subject: Subject,
    pub(super) moment: Moment,
    /// The newest samples, while earlier samples are frozen on the screen.
    newest: Option<Moment>,
    pub(super) is_frozen: bool,
    chosen_keys: Vec<SortKey>,
    pub(super) view: View,
    pub(super) zoom: Zoom,
    pub(super) filter: Option<Regex>,
    /// The expression that the user is typing.
    pub(super) input: Option<String>,
    /// Why the last expression was refused.
    pub(super) error: Option<String>,
    event: usize,
    pub(super) order: Order,
    pub(super) has_counts: bool,
    pub(super) has_help: bool,
    pub(super) rows: Rows,
    /// Index of the row with the cursor.
    pub(super) selected: usize,
    /// Index of the first row on the screen.
    pub(super) first: usize,
    /// Rows on the screen, as they were drawn last.
    pub(super) height: usize,
}

impl State {
    pub(super) fn new(options: &Options, subject: Subject) -> Self {
        let moment = Moment::default();
        let order = if options.no_children { Order::BySelf } else { Order::ByTotal };
        let choice = Choice { keys: &options.sort, zoom: Zoom::default(), filter: None, event: 0, order };
        Self {
            subject,
            rows: Rows::new(&moment, choice),
            moment,
            newest: None,
            is_frozen: false,
            chosen_keys: options.sort.clone(),
            view: View::Chosen,
            zoom: Zoom::default(),
            filter: None,
            input: None,
            error: None,
            event: 0,
            order,
            has_counts: options.show_nr_samples,
            has_help: false,
            selected: 0,
            first: 0,
            height: 0,
        }
    }

    /// Shows newer samples, or keeps them while the screen is frozen.
    pub(super) fn update(&mut self, moment: Moment) {
        if self.is_frozen {
            self.newest = Some(moment);
            return;
        }
        self.moment = moment;
        self.choose();
    }

    /// Returns the columns of the view.
    pub(super) fn keys(&self) -> &[SortKey] {
        self.view.keys(&self.chosen_keys)
    }

    /// Does what a key asks for; breaks at the end.
    pub(super) fn key(&mut self, key: KeyEvent) -> ControlFlow<()> {
        if key.kind == KeyEventKind::Release {
            return ControlFlow::Continue(());
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return ControlFlow::Break(());
        }
        if self.input.is_some() {
            self.type_filter(key.code);
            return ControlFlow::Continue(());
        }
        if self.has_help {
            self.has_help = false;
            return ControlFlow::Continue(());
        }
        match key.code {
            KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Char('?' | 'h') => self.has_help = true,
            KeyCode::Char('/') => (self.input, self.error) = (Some(String::new()), None),
            KeyCode::Char('f' | ' ') => self.freeze(),
            KeyCode::Char('n') => self.has_counts = !self.has_counts,
            KeyCode::Char('s') => {
                self.order = if self.order == Order::BySelf { Order::ByTotal } else { Order::BySelf };
                self.choose();
            }
            KeyCode::Char('e') => {
                self.event = (self.event + 1) % self.rows.events.max(1);
                self.choose();
            }
            KeyCode::Char('1') => self.show(View::Chosen),
            KeyCode::Char('2') => self.show(View::Objects),
            KeyCode::Char('3') => self.show(View::Processes),
            KeyCode::Char('4') => self.show(View::Threads),
            KeyCode::Tab => self.show(self.view.next()),
            KeyCode::Enter => self.zoom_in(),
            KeyCode::Esc | KeyCode::Backspace => self.zoom_out(),
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.selected += 1,
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(self.height),
            KeyCode::PageDown => self.selected += self.height,
            KeyCode::Home => self.selected = 0,
            KeyCode::End => self.selected = usize::MAX,
            _ => {}
        }
        self.keep_selected();
        ControlFlow::Continue(())
    }

    /// Moves the cursor onto a row, and the rows so that it is on the screen.
    pub(super) fn keep_selected(&mut self) {
        self.selected = self.selected.min(self.rows.list.len().saturating_sub(1));
        let lowest = (self.selected + 1).saturating_sub(self.height);
        self.first = self.first.clamp(lowest, self.selected.max(lowest));
    }

    fn type_filter(&mut self, key: KeyCode) {
        let Some(input) = &mut self.input else { return };
        match key {
            KeyCode::Char(character) => input.push(character),
            KeyCode::Backspace => drop(input.pop()),
            KeyCode::Esc => self.input = None,
            KeyCode::Enter => {
                match Regex::new(input) {
                    Ok(_) if input.is_empty() => self.filter = None,
                    Ok(filter) => self.filter = Some(filter),
                    Err(error) => self.error = Some(error.to_string()),
                }
                self.input = None;
                self.choose();
            }
            _ => {}
        }
    }

    fn freeze(&mut self) {
        self.is_frozen = !self.is_frozen;
        if let Some(newest) = self.newest.take().filter(|_| !self.is_frozen) {
            self.moment = newest;
            self.choose();
        }
    }

    fn show(&mut self, view: View) {
        (self.view, self.selected, self.first) = (view, 0, 0);
        self.choose();
    }

    /// Shows the functions of the process or thread with the cursor alone.
    fn zoom_in(&mut self) {
        let Some(row) = self.rows.list.get(self.selected).filter(|row| row.pid.or(row.tid).is_some()) else {
            return;
        };
        self.zoom = Zoom { pid: row.pid.or(self.zoom.pid), tid: row.tid.or(self.zoom.tid) };
        self.show(View::Chosen);
    }

    /// Shows the process of a thread, then all; then without the filter.
    fn zoom_out(&mut self) {
        if self.zoom.tid.take().or_else(|| self.zoom.pid.take()).is_none() {
            self.filter = None;
        }
        self.error = None;
        self.choose();
    }

    /// Makes the rows anew.
    fn choose(&mut self) {
        let keys = self.view.keys(&self.chosen_keys);
        let (zoom, filter, event, order) = (self.zoom, self.filter.as_ref(), self.event, self.order);
        self.rows = Rows::new(&self.moment, Choice { keys, zoom, filter, event, order });
        self.keep_selected();
    }
}
