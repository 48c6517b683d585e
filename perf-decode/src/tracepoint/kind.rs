//! The kind of a field's data, derived from its C type. No other file looks at type names.

use core::fmt;

use super::Location;
use super::integer::Width;

/// The kind of a field's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An integer of 1, 2, 4 or 8 bytes.
    Integer,
    /// An address.
    Pointer,
    /// Characters up to a NUL or to the end: an array of plain `char`.
    Text,
    /// An array of integers.
    Array {
        /// Size of one element in bytes: 1, 2, 4 or 8.
        element: u32,
    },
    /// Anything else: structures, and arrays whose element size the text does not give.
    Opaque,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("an integer"),
            Self::Pointer => f.write_str("a pointer"),
            Self::Text => f.write_str("text"),
            Self::Array { element } => write!(f, "an array of {element}-byte integers"),
            Self::Opaque => f.write_str("opaque data"),
        }
    }
}

/// Size of this program's `long`. A `format` text does not give the kernel's.
const LONG: u32 = size_of::<usize>() as u32;

impl Kind {
    /// Returns the kind of a field of `size` bytes, declared as `type_name NAME[brackets]`.
    pub(super) fn new(type_name: &str, location: Location, brackets: Option<&str>, size: u32) -> Self {
        let words =
            || type_name.split_ascii_whitespace().filter(|word| !matches!(*word, "const" | "volatile"));
        let pointer = type_name.contains('*');
        if !pointer && words().any(|word| matches!(word, "struct" | "union")) {
            return Self::Opaque;
        }
        if location == Location::Fixed && brackets.is_none() {
            return match Width::from_bytes(size) {
                None => Self::Opaque,
                Some(_) if pointer => Self::Pointer,
                Some(_) => Self::Integer,
            };
        }
        if words().eq(["char"]) {
            return Self::Text;
        }
        // `size` of a dynamic field is that of its word, not of the elements.
        let count =
            brackets.and_then(|count| count.parse::<u32>().ok()).filter(|_| location == Location::Fixed);
        let element = match count {
            Some(count) if count > 0 => (size % count == 0).then(|| size / count),
            _ if pointer => Some(LONG),
            _ => element_size(words()),
        };
        match element {
            Some(element) if Width::from_bytes(element).is_some() => Self::Array { element },
            _ => Self::Opaque,
        }
    }
}

/// Returns the size of a C or kernel integer type in bytes, from the words of its name.
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
        // A CPU mask is a bitmap of longs, as wide as the kernel has CPUs.
        "cpumask_t" | "ulong" | "size_t" | "ssize_t" | "uintptr_t" => LONG,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    fn array(element: u32) -> Kind {
        Kind::Array { element }
    }

    #[test]
    fn scalars_are_integers_or_pointers_of_a_machine_size() {
        let kind = |type_name, size| Kind::new(type_name, Location::Fixed, None, size);
        for size in [1, 2, 4, 8] {
            assert_eq!(kind("wibble_t", size), Kind::Integer);
            assert_eq!(kind("struct pair *", size), Kind::Pointer);
        }
        for size in [0, 3, 5, 6, 7, 9, 16] {
            assert_eq!((kind("wibble_t", size), kind("char *", size)), (Kind::Opaque, Kind::Opaque));
        }
        assert_eq!((kind("char", 1), kind("bool", 1)), (Kind::Integer, Kind::Integer));
        assert_eq!((kind("struct pair", 8), kind("const union u", 8)), (Kind::Opaque, Kind::Opaque));
    }

    #[test]
    fn plain_char_arrays_alone_are_text() {
        assert_eq!(Kind::new("char", Location::Fixed, Some("16"), 16), Kind::Text);
        assert_eq!(Kind::new("const char", Location::DataLoc, None, 4), Kind::Text);
        assert_eq!(Kind::new("volatile char", Location::RelLoc, None, 4), Kind::Text);
        assert_eq!(Kind::new("char", Location::Rest, Some(""), 0), Kind::Text);
        assert_eq!(Kind::new("unsigned char", Location::Fixed, Some("6"), 6), array(1));
        assert_eq!(Kind::new("signed char", Location::DataLoc, None, 4), array(1));
        assert_eq!(Kind::new("char *", Location::Fixed, Some("2"), 16), array(8));
    }

    #[test]
    fn elements_are_sized_by_their_count() {
        for (type_name, brackets, size, kind) in [
            ("unsigned long", "6", 48, array(8)),
            ("unsigned long", "6", 24, array(4)),
            ("wibble_t", "1", 2, array(2)),
            ("wibble_t", "3", 36, Kind::Opaque),
            ("u8", "3", 8, Kind::Opaque),
            ("u8", "3", 0, Kind::Opaque),
            ("u8", "0", 0, array(1)),
            ("struct pair", "2", 16, Kind::Opaque),
            ("struct pair *", "2", 16, array(8)),
        ] {
            assert_eq!(
                Kind::new(type_name, Location::Fixed, Some(brackets), size),
                kind,
                "{type_name} {brackets}"
            );
        }
    }

    #[test]
    fn dynamic_elements_are_not_sized_by_their_word() {
        assert_eq!(Kind::new("u64", Location::DataLoc, None, 4), array(8));
        assert_eq!(Kind::new("u16", Location::RelLoc, Some(""), 4), array(2));
        assert_eq!(Kind::new("u16", Location::RelLoc, Some("4"), 4), array(2));
        assert_eq!(Kind::new("u64", Location::Rest, Some(""), 0), array(8));
    }

    #[test]
    fn elements_without_a_count_are_sized_by_their_type() {
        for (element, type_names) in [
            (1, "unsigned char,u8,s8,__u8,__s8,uint8_t,int8_t,bool,_Bool"),
            (2, "short,unsigned short,short int,short unsigned int,int short"),
            (2, "u16,s16,__u16,__s16,uint16_t,int16_t,__le16,__be16,umode_t"),
            (4, "int,signed,unsigned,unsigned int,enum zone_type,u32,s32,__u32,__s32,uint32_t,int32_t"),
            (4, "__le32,__be32,uint,pid_t,uid_t,gid_t,dev_t,gfp_t"),
            (8, "u64,s64,__u64,__s64,uint64_t,int64_t,__le64,__be64,loff_t"),
            (8, "long long,long long int,long long unsigned int,unsigned long long"),
            (LONG, "long,unsigned long,const unsigned long,long unsigned int,void *,u8 *"),
            (LONG, "cpumask_t,ulong,size_t,ssize_t,uintptr_t"),
        ] {
            for type_name in type_names.split(',') {
                let kind = Kind::new(type_name, Location::Fixed, Some("NR_THINGS"), 40);
                assert_eq!(kind, array(element), "{type_name}");
            }
        }
        assert_eq!(Kind::new("wibble_t", Location::Fixed, Some("N"), 40), Kind::Opaque);
        assert_eq!(Kind::new("unsigned wibble_t", Location::Fixed, Some("N"), 40), Kind::Opaque);
        assert_eq!(Kind::new("const", Location::Fixed, Some("N"), 40), Kind::Opaque);
    }

    #[test]
    fn kinds_print_as_the_end_of_a_sentence() {
        let printed =
            [Kind::Integer, Kind::Pointer, Kind::Text, array(2), Kind::Opaque].map(|k| k.to_string());
        let expected = ["an integer", "a pointer", "text", "an array of 2-byte integers", "opaque data"];
        assert_eq!(printed, expected);
    }
}
