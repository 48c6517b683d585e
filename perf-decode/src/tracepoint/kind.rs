//! What a C type says about the data: this is the only place that looks at type names.

use super::integer::Width;
use super::{Kind, Place};

/// `long` of this program; a running kernel's own is not to be learned from the text.
const LONG: u32 = size_of::<usize>() as u32;

impl Kind {
    /// The kind of a field of `size` bytes, declared as `type_name NAME[brackets]`.
    pub(super) fn of(type_name: &str, place: Place, brackets: Option<&str>, size: u32) -> Self {
        let words =
            || type_name.split_ascii_whitespace().filter(|word| !matches!(*word, "const" | "volatile"));
        let pointer = type_name.contains('*');
        if !pointer && words().any(|word| matches!(word, "struct" | "union")) {
            return Self::Opaque;
        }
        if place == Place::Fixed && brackets.is_none() {
            return match Width::from_bytes(size) {
                None => Self::Opaque,
                Some(_) if pointer => Self::Pointer,
                Some(_) => Self::Integer,
            };
        }
        if words().eq(["char"]) {
            return Self::Text;
        }
        let counted = brackets.and_then(|count| count.parse::<u32>().ok()).filter(|_| place == Place::Fixed);
        let element = match counted {
            Some(count) if count != 0 && size != 0 => (size % count == 0).then(|| size / count),
            _ if pointer => Some(LONG),
            _ => element_size(words()),
        };
        match element {
            Some(element) if Width::from_bytes(element).is_some() => Self::Array { element },
            _ => Self::Opaque,
        }
    }
}

/// The size of a C or kernel integer type, given the words of its name.
fn element_size<'t>(words: impl Iterator<Item = &'t str>) -> Option<u32> {
    let (mut size, mut longs) = (None, 0u32);
    for word in words {
        match word {
            "enum" => return Some(4),
            "long" => longs = longs.saturating_add(1),
            "unsigned" | "signed" | "int" => size = size.or(Some(4)),
            "short" => size = Some(2),
            _ => size = Some(size_of_name(word)?),
        }
    }
    match longs {
        0 => size,
        1 => Some(LONG),
        _ => Some(8),
    }
}

fn size_of_name(word: &str) -> Option<u32> {
    Some(match word {
        "char" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" | "bool" | "_Bool" => 1,
        "u16" | "s16" | "__u16" | "__s16" | "uint16_t" | "int16_t" | "__le16" | "__be16" | "umode_t" => 2,
        "u32" | "s32" | "__u32" | "__s32" | "uint32_t" | "int32_t" | "__le32" | "__be32" | "uint"
        | "pid_t" | "uid_t" | "gid_t" | "dev_t" | "gfp_t" => 4,
        "u64" | "s64" | "__u64" | "__s64" | "uint64_t" | "int64_t" | "__le64" | "__be64" | "loff_t" => 8,
        // A bitmap of longs, as wide as the kernel has CPUs.
        "cpumask_t" | "ulong" | "size_t" | "ssize_t" | "uintptr_t" => LONG,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_sized_by_count_or_else_by_type() {
        let long = LONG;
        for (type_name, brackets, size, element) in [
            ("unsigned long", Some("6"), 48, Some(8)),
            ("unsigned long", Some("6"), 24, Some(4)),
            ("unsigned int", Some("NR_THINGS"), 40, Some(4)),
            ("unsigned short int", Some("N"), 40, Some(2)),
            ("long long unsigned int", Some("N"), 40, Some(8)),
            ("const unsigned long", Some(""), 40, Some(long)),
            ("enum zone_type", Some("N"), 40, Some(4)),
            ("void *", Some("N"), 40, Some(long)),
            ("unsigned char", Some("6"), 6, Some(1)),
            ("u8", Some("0"), 0, Some(1)),
            ("u8", Some("3"), 8, None),
            ("wibble_t", Some("N"), 40, None),
            ("wibble_t", Some("3"), 36, None),
            ("struct pair", Some("2"), 16, None),
        ] {
            let expected = element.map_or(Kind::Opaque, |element| Kind::Array { element });
            assert_eq!(
                Kind::of(type_name, Place::Fixed, brackets, size),
                expected,
                "{type_name} {brackets:?}"
            );
        }
        // The size of a dynamic field is that of its word.
        assert_eq!(Kind::of("u64", Place::DataLoc, None, 4), Kind::Array { element: 8 });
        assert_eq!(Kind::of("cpumask_t", Place::RelLoc, None, 4), Kind::Array { element: long });
        assert_eq!(Kind::of("u16", Place::RelLoc, Some(""), 4), Kind::Array { element: 2 });
    }

    #[test]
    fn plain_char_arrays_alone_are_text() {
        assert_eq!(Kind::of("char", Place::Fixed, Some("16"), 16), Kind::Text);
        assert_eq!(Kind::of("const char", Place::DataLoc, None, 4), Kind::Text);
        assert_eq!(Kind::of("char", Place::Rest, Some(""), 0), Kind::Text);
        assert_eq!(Kind::of("char", Place::Fixed, None, 1), Kind::Integer);
        assert_eq!(Kind::of("char", Place::Fixed, None, 4080), Kind::Opaque);
        assert_eq!(Kind::of("char *", Place::Fixed, None, 8), Kind::Pointer);
        assert_eq!(Kind::of("char *", Place::Fixed, Some("2"), 16), Kind::Array { element: 8 });
        assert_eq!(Kind::of("struct a", Place::Fixed, None, 8), Kind::Opaque);
        assert_eq!(Kind::of("struct a *", Place::Fixed, None, 8), Kind::Pointer);
    }
}
