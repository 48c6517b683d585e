//! A piece of somebody's text, kept inside an error.

use core::fmt;

/// Longest piece kept, in bytes: a whole `offset:` or `size:` part and most declarations.
const CAPACITY: usize = 47;

/// The beginning of a text, at most 47 bytes of it, owned.
///
/// Errors carry this instead of a borrow, so that they outlive the text and pass through `Box<dyn Error>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Excerpt {
    bytes: [u8; CAPACITY],
    len: u8,
}

impl Excerpt {
    /// Keeps the beginning of `text`, up to the last whole character that fits.
    pub(super) fn of(text: &str) -> Self {
        let mut excerpt = Self { bytes: [0; CAPACITY], len: 0 };
        let fits =
            text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= CAPACITY).last();
        let kept = text.as_bytes().get(..fits.unwrap_or(0)).unwrap_or_default();
        for (to, from) in excerpt.bytes.iter_mut().zip(kept) {
            *to = *from;
        }
        excerpt.len = kept.len() as u8;
        excerpt
    }

    /// The text that was kept; empty if the original was.
    pub fn as_str(&self) -> &str {
        let kept = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(kept).unwrap_or_default()
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            "" => f.write_str("nothing"),
            text => write!(f, "`{}`", text.escape_debug()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character() {
        let text = "0123456789012345678901234567890123456789012345é and more";
        assert_eq!(Excerpt::of(text).as_str(), "0123456789012345678901234567890123456789012345");
        assert_eq!(Excerpt::of("size:8").as_str(), "size:8");
        assert_eq!(Excerpt::of("").as_str(), "");
    }
}
