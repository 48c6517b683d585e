//! The colors of frames.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use inferno::flamegraph;
use inferno::flamegraph::color::{Color, PaletteMap};

/// Name of the palette of this program.
const ORIGIN: &str = "origin";

/// A palette: one of inferno's, or the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Palette(pub(super) Option<flamegraph::Palette>);

impl FromStr for Palette {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == ORIGIN { Ok(Self(None)) } else { name.parse().map(|palette| Self(Some(palette))) }
    }
}

/// Returns the parser of the option, which lists the names.
pub(super) fn parser() -> impl TypedValueParser<Value = Palette> {
    let names = [ORIGIN].into_iter().chain(flamegraph::Palette::VARIANTS.iter().copied());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Palette>())
}

/// Two colors, between which the name of a frame chooses one, so that neighbors differ.
type Range = ([u8; 3], [u8; 3]);

// Blue and orange, the two hues that people with a red-green deficiency distinguish best. All
// differ in lightness too, for other deficiencies and on paper: CIE L* is 57 to 63, 70 to 73, 77 to
// 81 and 87 to 92. Black text has a contrast of 5.9 or more on each; 4.5 is enough to read it.
const KERNEL: Range = ([200, 118, 28], [216, 134, 44]);
const UNNAMED: Range = ([170, 170, 170], [178, 178, 178]);
const USER: Range = ([118, 200, 245], [148, 208, 248]);
const INLINED: Range = ([188, 224, 252], [206, 235, 254]);

/// Color of frames that a search finds: yellow is lighter than orange, and no deficiency takes it
/// for blue or grey.
pub(super) const SEARCH: &str = "#f0e442";

/// Returns the colors of kernel, inlined, unnamed and other frames.
pub(super) fn origin<'a>(frames: impl Iterator<Item = &'a str>) -> PaletteMap {
    let mut map = PaletteMap::default();
    // The root frame, whose name is empty.
    map.insert("", Color { r: 218, g: 218, b: 218 });
    for frame in frames {
        if map.get(frame).is_none() {
            map.insert(frame, color(frame));
        }
    }
    map
}

fn color(frame: &str) -> Color {
    let (from, to) = match frame {
        _ if frame.ends_with("_[k]") => KERNEL,
        _ if frame.ends_with("_[i]") => INLINED,
        _ if frame.starts_with('[') && frame.ends_with(']') || is_start(frame) => UNNAMED,
        _ => USER,
    };
    let part = hash(frame);
    let [r, g, b] = [0, 1, 2].map(|index| {
        let at = |color: [u8; 3]| u32::from(color.get(index).copied().unwrap_or_default());
        // The second color of each range is the larger in each channel.
        (at(from) + (at(to) - at(from)) * part / 255) as u8
    });
    Color { r, g, b }
}

/// Returns true for a function without a name, which is called by its file and start:
/// `libz.so.1+0x2f30`.
fn is_start(frame: &str) -> bool {
    let start = frame.rsplit_once("+0x").map(|(_, start)| start);
    start.is_some_and(|start| !start.is_empty() && start.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns a number below 256 that is the same in each run (FNV-1a).
fn hash(name: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, mix) >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the relative luminance, as WCAG 2 defines it.
    fn luminance(color: [u8; 3]) -> f64 {
        let linear = color.map(|value| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// Returns CIE L*.
    fn lightness(color: [u8; 3]) -> f64 {
        116.0 * luminance(color).cbrt() - 16.0
    }

    #[test]
    fn colors_of_origin_differ_in_lightness_and_have_readable_text() {
        let ranges = [KERNEL, UNNAMED, USER, INLINED];
        for (from, to) in ranges {
            assert!(from.iter().zip(&to).all(|(from, to)| from <= to));
            assert!((luminance(from) + 0.05) / 0.05 >= 4.5);
        }
        for pair in ranges.windows(2) {
            let (darker, lighter) = (lightness(pair[0].1), lightness(pair[1].0));
            assert!(lighter - darker > 3.0, "{darker} {lighter}");
        }
    }

    #[test]
    fn color_is_the_one_of_its_origin_in_each_run() {
        let map = origin(["a", "a_[k]", "b_[i]", "[libc.so.6]"].into_iter());
        let colors = ["a", "a_[k]", "b_[i]", "[libc.so.6]"].map(|name| map.get(name).unwrap());
        assert!(
            colors[0].b > 240 && colors[1].b < 50 && colors[2].r >= 188 && colors[3].r == colors[3].b,
            "{colors:?}"
        );
        assert_eq!(color("a"), colors[0]);
        // A function that is called by its file and start has no name.
        for (frame, is_unnamed) in [("libz.so.1+0x2f30", true), ("a+0x", false), ("f<1+0x2>", false)] {
            let color = color(frame);
            assert_eq!(color.r == color.b, is_unnamed, "{frame}");
        }
    }

    #[test]
    fn each_palette_of_inferno_has_a_name() {
        assert_eq!("origin".parse(), Ok(Palette::default()));
        for name in flamegraph::Palette::VARIANTS {
            assert!(name.parse::<Palette>().unwrap().0.is_some(), "{name}");
        }
        assert!("x".parse::<Palette>().is_err());
    }
}
