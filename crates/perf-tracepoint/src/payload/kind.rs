//! The kind of a field's data, derived from its C type. No other file looks at type names.

use core::fmt;

use super::integer::Width;

/// The kind of a field's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An integer of 1, 2, 4 or 8 bytes.
    Integer,
    /// An address, read as an unsigned integer.
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
    pub(super) fn fixed(type_name: &str, brackets: Option<&str>, size: u32) -> Self {
        if is_aggregate(type_name) {
            return Self::Opaque;
        }
        let Some(brackets) = brackets else {
            return match Width::from_bytes(size) {
                None => Self::Opaque,
                Some(_) if is_pointer(type_name) => Self::Pointer,
                Some(_) => Self::Integer,
            };
        };
        match (Self::elements(type_name), brackets.parse::<u32>()) {
            (Self::Text, _) => Self::Text,
            (_, Ok(count)) if count > 0 => match size / count {
                element if size % count == 0 && Width::from_bytes(element).is_some() => {
                    Self::Array { element }
                }
                _ => Self::Opaque,
            },
            (kind, _) => kind,
        }
    }

    /// Returns the kind of an array of `type_name` whose length the text does not give.
    pub(super) fn elements(type_name: &str) -> Self {
        if is_aggregate(type_name) {
            return Self::Opaque;
        }
        if is_pointer(type_name) {
            return Self::Array { element: LONG };
        }
        if words(type_name).eq(["char"]) {
            return Self::Text;
        }
        element_size(words(type_name), LONG).map_or(Self::Opaque, |element| Self::Array { element })
    }
}

fn is_pointer(type_name: &str) -> bool {
    type_name.contains('*')
}

fn is_aggregate(type_name: &str) -> bool {
    !is_pointer(type_name) && words(type_name).any(|word| matches!(word, "struct" | "union"))
}

/// Returns the words of a type without its qualifiers.
fn words(type_name: &str) -> impl Iterator<Item = &str> {
    type_name.split_ascii_whitespace().filter(|word| !matches!(*word, "const" | "volatile"))
}

/// Returns the size of a C or kernel integer type in bytes, from the words of its name and the size
/// of a `long`.
fn element_size<'t>(words: impl Iterator<Item = &'t str>, long: u32) -> Option<u32> {
    let (mut size, mut longs) = (None, 0u32);
    for word in words {
        match word {
            "enum" => return Some(4),
            "long" => longs = longs.saturating_add(1),
            "unsigned" | "signed" | "int" => size = size.or(Some(4)),
            "short" => size = Some(2),
            _ => size = Some(size_of_name(word, long)?),
        }
    }
    match longs {
        0 => size,
        1 => Some(long),
        _ => Some(8),
    }
}

fn size_of_name(word: &str, long: u32) -> Option<u32> {
    Some(match word {
        "char" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" | "bool" | "_Bool" => 1,
        "u16" | "s16" | "__u16" | "__s16" | "uint16_t" | "int16_t" | "__le16" | "__be16" | "umode_t" => 2,
        "u32" | "s32" | "__u32" | "__s32" | "uint32_t" | "int32_t" | "__le32" | "__be32" | "uint"
        | "pid_t" | "uid_t" | "gid_t" | "dev_t" | "gfp_t" => 4,
        "u64" | "s64" | "__u64" | "__s64" | "uint64_t" | "int64_t" | "__le64" | "__be64" | "loff_t" => 8,
        // A CPU mask is a bitmap of longs, as wide as the kernel has CPUs.
        "cpumask_t" | "ulong" | "size_t" | "ssize_t" | "uintptr_t" => long,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(element: u32) -> Kind {
        Kind::Array { element }
    }

    #[test]
    fn scalars_are_integers_or_pointers_of_a_machine_size() {
        let kind = |type_name, size| Kind::fixed(type_name, None, size);
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
        assert_eq!(Kind::fixed("char", Some("16"), 16), Kind::Text);
        assert_eq!(Kind::elements("const char"), Kind::Text);
        assert_eq!(Kind::elements("volatile char"), Kind::Text);
        assert_eq!(Kind::elements("char"), Kind::Text);
        assert_eq!(Kind::fixed("unsigned char", Some("6"), 6), array(1));
        assert_eq!(Kind::elements("signed char"), array(1));
        assert_eq!(Kind::fixed("char *", Some("2"), 16), array(8));
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
            assert_eq!(Kind::fixed(type_name, Some(brackets), size), kind, "{type_name} {brackets}");
        }
    }

    #[test]
    fn elements_without_a_count_are_sized_by_their_type() {
        // The types of each element size, separated by commas.
        for (element, type_names) in [
            (1, "unsigned char,u8,s8,__u8,__s8,uint8_t,int8_t,bool,_Bool"),
            (2, "short,unsigned short,short int,short unsigned int,int short"),
            (2, "u16,s16,__u16,__s16,uint16_t,int16_t,__le16,__be16,umode_t"),
            (4, "int,signed,unsigned,unsigned int,enum zone_type,u32,s32,__u32,__s32,uint32_t,int32_t"),
            (4, "__le32,__be32,uint,pid_t,uid_t,gid_t,dev_t,gfp_t"),
            (8, "u64,s64,__u64,__s64,uint64_t,int64_t,__le64,__be64,loff_t"),
            (8, "long long,long long int,long long unsigned int,unsigned long long"),
            (LONG, "long,const unsigned long,ulong,void *,u8 *,const char *const"),
        ] {
            for type_name in type_names.split(',') {
                let kind = Kind::fixed(type_name, Some("NR_THINGS"), 40);
                assert_eq!((kind, Kind::elements(type_name)), (array(element), kind), "{type_name}");
            }
        }
        for type_name in ["wibble_t", "unsigned wibble_t", "const", "struct pair", "union u"] {
            assert_eq!(Kind::fixed(type_name, Some("N"), 40), Kind::Opaque, "{type_name}");
            assert_eq!(Kind::elements(type_name), Kind::Opaque, "{type_name}");
        }
    }

    #[test]
    fn longs_and_types_of_their_size_follow_the_program() {
        for type_name in
            "long,unsigned long,long unsigned int,cpumask_t,ulong,size_t,ssize_t,uintptr_t".split(',')
        {
            for long in [4, 8] {
                assert_eq!(element_size(type_name.split(' '), long), Some(long), "{type_name}");
            }
        }
        assert_eq!(element_size("unsigned long long".split(' '), 4), Some(8));
        assert_eq!(element_size("unsigned int".split(' '), 8), Some(4));
    }

    #[test]
    fn kinds_print_as_the_end_of_a_sentence() {
        let printed =
            [Kind::Integer, Kind::Pointer, Kind::Text, array(2), Kind::Opaque].map(|k| k.to_string());
        let expected = ["an integer", "a pointer", "text", "an array of 2-byte integers", "opaque data"];
        assert_eq!(printed, expected);
    }
}
