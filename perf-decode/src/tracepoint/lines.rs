//! A cursor over numbered lines.

/// Where the parser stands in a text.
#[derive(Clone, Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    position: usize,
    number: u32,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, position: 0, number: 1 }
    }

    /// Number of the line that `peek` shows, counted from 1.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The line at hand, with its line end; `None` at the end of the text.
    pub(super) fn peek(&self) -> Option<&'t str> {
        self.text.get(self.position..)?.split_inclusive('\n').next()
    }

    /// Steps over the line at hand.
    pub(super) fn advance(&mut self) {
        self.position += self.peek().map_or(0, str::len);
        self.number = self.number.saturating_add(1);
    }

    /// Steps over blank lines.
    pub(super) fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.advance();
        }
    }

    /// The text between an earlier state of this cursor and now.
    pub(super) fn since(&self, earlier: &Self) -> &'t str {
        self.text.get(earlier.position..self.position).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_cut_out_again() {
        let mut lines = Lines::new("one\n\n  \nfour\nfive");
        lines.advance();
        lines.skip_blank();
        assert_eq!((lines.number(), lines.peek()), (4, Some("four\n")));
        let start = lines.clone();
        lines.advance();
        lines.advance();
        assert_eq!((lines.peek(), lines.since(&start)), (None, "four\nfive"));
    }
}
