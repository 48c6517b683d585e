//! The picture of stacks.

use std::io::{self, Write};

use inferno::flamegraph::color::{BackgroundColor, Color};
use inferno::flamegraph::{self, Direction};

use super::palette::{self, Palette};
use super::stacks::{self, Line};

/// Sum of values up to which inferno computes with them exactly, and without an overflow.
const MAX_TOTAL: u128 = (1 << 53) - 1;

/// The values and options of a flame graph.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Stacks, sorted by their frames.
    pub(super) lines: Vec<Line>,
    /// Whether the colors show the difference from the base.
    pub(super) is_difference: bool,
    pub(super) title: String,
    pub(super) subtitle: String,
    /// The name of the values' unit.
    pub(super) unit: String,
    /// Number of values that make one unit.
    pub(super) per_unit: u64,
    pub(super) look: Look,
}

/// The layout and colors of a flame graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Width in pixels; `None` for the width of the window.
    pub(super) width: Option<u16>,
    /// Width of the narrowest frame, in percent of all.
    pub(super) min_width: f64,
    pub(super) palette: Palette,
    /// Whether the outermost frame is at the top.
    pub(super) is_inverted: bool,
}

impl Look {
    /// Returns the characters that fit on the line below the title.
    pub(super) fn subtitle_len(&self) -> usize {
        // Inferno's default width, its margins, and the width of a character of a 12-pixel
        // monospace font in tenths of a pixel.
        let (usual, margins, character) = (1200, 20, 73);
        (usize::from(self.width.unwrap_or(usual)).saturating_sub(margins)) * 10 / character
    }
}

/// Width in percent below which a frame cannot be seen, as in inferno.
pub(super) const MIN_WIDTH: f64 = 0.01;

impl Default for Look {
    fn default() -> Self {
        Self { width: None, min_width: MIN_WIDTH, palette: Palette::default(), is_inverted: false }
    }
}

impl Picture {
    /// Writes the picture as SVG. The same stacks give the same bytes.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let shift = self.shift();
        // In reverse, because a flame chart takes its lines from last to first. Unlike a flame
        // graph, it does not require text order, from which the order by frames differs.
        let lines: Vec<String> = self.lines.iter().rev().map(|line| self.text(line, shift)).collect();
        let mut options = flamegraph::Options::default();
        options.flame_chart = true;
        // Colors are chosen by the name, not at random.
        options.deterministic = true;
        options.title.clone_from(&self.title);
        options.subtitle = Some(shortened(&self.subtitle, self.look.subtitle_len()));
        options.count_name.clone_from(&self.unit);
        if !self.is_difference {
            #[expect(clippy::cast_precision_loss, reason = "1 or 1000")]
            let per_unit = self.per_unit as f64;
            options.factor = f64::powi(2.0, shift.cast_signed()) / per_unit;
        } else if shift > 0 {
            options.count_name = format!("* 2^{shift} {}", self.unit);
        }
        options.image_width = self.look.width.map(usize::from);
        options.min_width = self.look.min_width;
        if self.look.is_inverted {
            options.direction = Direction::Inverted;
        }
        let mut colors;
        match self.look.palette.0 {
            Some(palette) if !self.is_difference => options.colors = palette,
            _ => {
                let grey = BackgroundColor::Flat(Color { r: 224, g: 224, b: 224 });
                // Frames without a difference are nearly white.
                options.bgcolors = Some(if self.is_difference { grey } else { BackgroundColor::Grey });
                options.search_color = palette::SEARCH.parse().unwrap_or(options.search_color);
                if !self.is_difference {
                    colors = palette::origin(self.lines.iter().flat_map(|line| line.stack.split(';')));
                    options.palette_map = Some(&mut colors);
                }
            }
        }
        flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
    }

    /// Returns the sum of the values that are drawn.
    pub(super) fn total(&self) -> u128 {
        self.lines.iter().map(|line| u128::from(line.value)).sum()
    }

    /// Marks the values as numbers of samples.
    pub(super) fn count_samples(&mut self) {
        "samples".clone_into(&mut self.unit);
        self.per_unit = 1;
    }

    /// Returns by how many bits values are shifted right, so that their sum is at most
    /// [`MAX_TOTAL`].
    fn shift(&self) -> u32 {
        let base: u128 = self.lines.iter().map(|line| u128::from(line.base)).sum();
        let total = self.total().max(base);
        (MAX_TOTAL.leading_zeros()).saturating_sub(total.leading_zeros())
    }

    /// Returns the text of a stack. The values of a comparison are in the unit, because inferno
    /// computes the percentage of a difference without the factor.
    fn text(&self, line: &Line, shift: u32) -> String {
        let stack = &line.stack;
        if self.is_difference {
            let in_units = |value: u64| (value.saturating_add(self.per_unit / 2) / self.per_unit) >> shift;
            format!("{stack} {} {}", in_units(line.base), in_units(line.value))
        } else {
            format!("{stack} {}", line.value >> shift)
        }
    }
}

/// Returns a title that fits next to the buttons of a picture of the default width.
pub(super) fn short_title(title: &str) -> String {
    const MAX: usize = 88;
    shortened(&stacks::text(title), MAX)
}

/// Returns a text of at most `len` characters, with a mark where it is cut.
pub(super) fn shortened(text: &str, len: usize) -> String {
    if text.chars().count() <= len {
        return text.to_owned();
    }
    text.chars().take(len.saturating_sub(1)).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(stacks: &[(&str, u64, u64)]) -> Picture {
        let line = |&(stack, value, base): &(&str, u64, u64)| Line { stack: stack.to_owned(), value, base };
        Picture {
            lines: stacks.iter().map(line).collect(),
            is_difference: false,
            title: "a < b & c".to_owned(),
            subtitle: String::new(),
            unit: "us".to_owned(),
            per_unit: 1000,
            look: Look::default(),
        }
    }

    fn svg(picture: &Picture) -> String {
        let mut out = Vec::new();
        picture.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn frame_is_drawn_once_with_all_its_callees() {
        let svg = svg(&picture(&[("a", 1000, 0), ("a;b", 2000, 0), ("a (x)", 1000, 0), ("a::c", 4000, 0)]));
        assert_eq!(svg.matches("<title>a (3 us, 37.50%)</title>").count(), 1, "{svg}");
        assert!(svg.contains("<title>all (8 us, 100%)</title>"), "{svg}");
        assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("a < b"), "{svg}");
    }

    #[test]
    fn sums_of_any_values_are_drawn() {
        let mut large = picture(&[("a", u64::MAX, 0), ("b", u64::MAX, u64::MAX), ("c", u64::MAX, u64::MAX)]);
        large.per_unit = 1;
        let text = svg(&large);
        assert!(text.contains("33.33%)</title>"), "{text}");
        assert_eq!(large.shift(), 13);
        large.is_difference = true;
        assert!(svg(&large).contains("33.33%; 0.00%)</title>"));
        assert_eq!(picture(&[("a", (1 << 53) - 1, 0)]).shift(), 0);
    }

    #[test]
    fn difference_is_red_for_more_and_blue_for_less() {
        let mut picture = picture(&[("less", 1000, 3000), ("more", 3000, 1000), ("same", 7000, 7000)]);
        picture.is_difference = true;
        let svg = svg(&picture);
        for (title, color) in [
            ("less (1 us, 9.09%; -18.18%)", "rgb(100,100,255)"),
            ("more (3 us, 27.27%; +18.18%)", "rgb(255,100,100)"),
            ("same (7 us, 63.64%; 0.00%)", "rgb(250,250,250)"),
        ] {
            let frame = svg
                .split("</g>")
                .find(|frame| frame.contains(title))
                .unwrap_or_else(|| panic!("{title}: {svg}"));
            assert!(frame.contains(color), "{frame}");
        }
    }
}
