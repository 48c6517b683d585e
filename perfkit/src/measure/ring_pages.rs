//! `--mmap-pages`: the size of a ring.

/// Bytes of a page of the rings, as users count them. A machine with larger pages has larger rings.
pub(crate) const PAGE: usize = 4096;

/// Data pages of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingPages {
    /// A power of two.
    pub(crate) pages: usize,
    pub(crate) asked: usize,
}

/// Parses a number of pages, or a size.
pub(crate) fn ring_pages(text: &str) -> Result<RingPages, String> {
    let units = [('B', 1), ('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let unit = units.iter().find_map(|(letter, bytes)| Some((text.strip_suffix(*letter)?, *bytes)));
    let (number, unit) = unit.unwrap_or((text, PAGE));
    let number: Option<usize> = number.parse().ok().filter(|number| *number > 0);
    let asked = number.and_then(|number| number.checked_mul(unit)).map(|bytes| bytes.div_ceil(PAGE));
    asked
        .and_then(|asked| Some(RingPages { pages: asked.checked_next_power_of_two()?, asked }))
        .ok_or("expected a number of pages, as 128, or a size, as 512K or 4M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_have_a_power_of_two_of_pages() {
        for (text, pages, asked) in [
            ("128", 128, 128),
            ("512K", 128, 128),
            ("4M", 1024, 1024),
            ("1G", 1 << 18, 1 << 18),
            ("3", 4, 3),
            ("2K", 1, 1),
            ("12K", 4, 3),
            ("4097B", 2, 2),
        ] {
            assert_eq!(ring_pages(text), Ok(RingPages { pages, asked }), "{text}");
        }
        for text in ["0", "0K", "x", "K", "128,64", "-1", "99999999999999999999", "18446744073709551615"] {
            assert!(ring_pages(text).is_err(), "{text}");
        }
    }
}
