//! Demangling of Rust and C++ symbols.

use std::borrow::Cow;
use std::fmt;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite, Symbol};

/// Returns the demangled name of a Rust or C++ symbol. For C++, the parameters and the return type
/// are left out because they are longer than the rest. Other names are returned unchanged.
pub(super) fn demangled(name: &str) -> Cow<'_, str> {
    if let Ok(name) = rustc_demangle::try_demangle(name) {
        // The alternate form omits the hash.
        return format!("{name:#}").into();
    }
    // Checked before parsing, because most other symbols are not C++.
    if !name.starts_with("_Z") {
        return name.into();
    }
    if let Some((kind, target)) = thunk(name) {
        return format!("{kind} to {}", demangled(&format!("_Z{target}"))).into();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut text = Text(String::new());
    let done = match Symbol::new(name) {
        Ok(symbol) => symbol.structured_demangle(&mut text, &options),
        Err(_) => match name_before_return_type(name) {
            Some(symbol) => symbol.structured_demangle(&mut text, &options),
            None => return name.into(),
        },
    };
    if done.is_err() {
        return name.into();
    }
    without_qualifiers(&mut text.0);
    with_literal_operator(text.0).into()
}

/// Parses the name of a function template whose return type the library cannot parse. gcc mangles
/// members of dependent `std` types, such as `std::is_same<T, U>::value`, in a form older than the
/// ABI's (`srSt`, `srN`). The name comes before the return type.
fn name_before_return_type(name: &str) -> Option<BorrowedSymbol<'_>> {
    let (symbol, rest) = BorrowedSymbol::with_tail(name.as_bytes()).ok()?;
    let (parsed, rest) = name.split_at_checked(name.len() - rest.len())?;
    let is_template = parsed.ends_with('E');
    let has_condition = rest.contains("IXsr") || rest.contains("IXntsr");
    (is_template && rest.starts_with('N') && has_condition).then_some(symbol)
}

/// Splits a thunk symbol (a call of a virtual function through another base class) into its kind
/// and the symbol of the function.
fn thunk(name: &str) -> Option<(&'static str, &str)> {
    let (kind, offsets, mut rest) = match name.split_at_checked(4)? {
        ("_ZTh", rest) => ("non-virtual thunk", 1, rest),
        ("_ZTv", rest) => ("virtual thunk", 2, rest),
        _ => return None,
    };
    for _ in 0..offsets {
        let (offset, after) = rest.split_once('_')?;
        let digits = offset.strip_prefix('n').unwrap_or(offset);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        rest = after;
    }
    Some((kind, rest))
}

/// Removes the qualifiers of a member function: for some functions the library prints them although
/// the parameters are left out.
fn without_qualifiers(name: &mut String) {
    let last = name.rfind("::").unwrap_or(0);
    // In `operator char const*`, the qualifier is part of the name.
    if name.get(last..).is_some_and(|last| last.contains("operator ")) {
        return;
    }
    while let Some(rest) = [" const", " volatile", " &", " &&"].iter().find_map(|end| name.strip_suffix(end))
    {
        name.truncate(rest.len());
    }
}

/// Moves the suffix of a literal operator to its end, as in the source. The library prints
/// `operator_x::operator ""`.
fn with_literal_operator(name: String) -> String {
    let Some((before, after)) = name.split_once("::operator \"\"") else { return name };
    let start = before.rfind("::").map_or(0, |at| at + 2);
    match before
        .split_at_checked(start)
        .and_then(|(scope, last)| Some((scope, last.strip_prefix("operator")?)))
    {
        Some((scope, suffix)) => format!("{scope}operator\"\" {suffix}{after}"),
        None => name,
    }
}

/// Maximum length of a name in bytes. Substitutions in a crafted symbol can double it again and
/// again.
const MAX_LEN: usize = 1 << 16;

/// A string that returns an error instead of growing beyond [`MAX_LEN`].
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
    fn names_that_the_library_does_not_parse_or_prints_otherwise_are_those_of_the_source() {
        let cases = [
            (
                "_ZSt4swapIiENSt9enable_ifIXsrSt6__and_IJSt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS4_ESt18\
              is_move_assignableIS4_EEE5valueEvE4typeERS4_SE_",
                "std::swap<int>",
            ),
            (
                "_ZSt9__fill_a1IPbbEN9__gnu_cxx11__enable_ifIXsrSt11__is_scalarIT0_E7__valueEvE6__typeET_S8_RKS4_",
                "std::__fill_a1<bool*, bool>",
            ),
            (
                "_ZSteqIcEN9__gnu_cxx11__enable_ifIXsrSt9__is_charIT_E7__valueEbE6__typeERKNSt7__cxx1112basic_stringIS3_St11\
              char_traitsIS3_ESaIS3_EEESE_",
                "std::operator==<char>",
            ),
            ("_Zli2_xy", "operator\"\" _x"),
            ("_ZNSt8literals15chrono_literalsli2_sEe", "std::literals::chrono_literals::operator\"\" _s"),
            ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"),
            ("_ZNKR3foo3barEv", "foo::bar"),
            ("_ZNO3foo3barEv", "foo::bar"),
            ("_ZNK1AcvPKcEv", "A::operator char const*"),
            ("_ZThn16_N1C1fEv", "non-virtual thunk to C::f"),
            ("_ZTv0_n24_N1C1fEv", "virtual thunk to C::f"),
            // Neither a thunk nor a template with a condition.
            ("_ZThx_N1C1fEv", "_ZThx_N1C1fEv"),
            ("_ZSt4swapIiE?", "_ZSt4swapIiE?"),
        ];
        for (name, expected) in cases {
            assert_eq!(demangled(name), expected, "{name}");
        }
    }

    #[test]
    fn name_that_would_grow_without_end_stays_as_it_is() {
        // Each pair contains the previous one twice: 2^40 letters.
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
