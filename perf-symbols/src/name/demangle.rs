//! Names of functions as the source has them.

use std::borrow::Cow;
use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, Symbol};

/// Returns the name of a symbol of Rust or C++ in the form of the source; of C++ without parameters and the type that is
/// returned, which are longer than all the rest. Other names stay as they are.
pub(super) fn demangled(name: &str) -> Cow<'_, str> {
    if let Ok(name) = rustc_demangle::try_demangle(name) {
        // Without the hash.
        return format!("{name:#}").into();
    }
    // Symbols of other languages are short, and most are not of C++.
    if !name.starts_with("_Z") {
        return name.into();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut text = Text(String::new());
    match Symbol::new(name).map(|symbol| symbol.structured_demangle(&mut text, &options)) {
        Ok(Ok(())) => text.0.into(),
        _ => name.into(),
    }
}

/// The longest name in bytes: substitutions in a made-up symbol double it again and again.
const MAX_LEN: usize = 1 << 16;

/// A text that refuses to grow further.
struct Text(String);

impl DemangleWrite for Text {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_LEN {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source_without_parameters() {
        let cases = [
            ("main", "main"),
            ("_Z4workm", "work"),
            ("_ZN5space4findINS_3KeyEEEiRKT_", "space::find<space::Key>"),
            ("_ZN4core3ptr5write17h0123456789abcdefE", "core::ptr::write"),
            ("_ZNK3FooclEi", "Foo::operator()"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_Z", "_Z"),
            ("_Zxyz", "_Zxyz"),
            ("", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(demangled(name), expected);
        }
    }

    #[test]
    fn name_that_would_grow_without_end_stays_as_it_is() {
        // Each pair has the one before twice: 2^40 letters.
        let mut name = String::from("_Z1fISt4pairI1a1aE");
        for index in 0..40_u32 {
            let last =
                if index < 10 { char::from(b'0' + index as u8) } else { char::from(b'A' + index as u8 - 10) };
            name.extend(["St4pairIS", &last.to_string(), "_S", &last.to_string(), "_E"]);
        }
        name.push_str("Evv");
        assert!(demangled(&name).len() <= MAX_LEN);
    }
}
