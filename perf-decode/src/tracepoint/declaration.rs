//! The C declaration in a field line: type, name and brackets, in the forms the kernel prints.

use super::Place;
use super::error::Fault;

/// A declaration taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declaration<'t> {
    pub(super) name: &'t str,
    /// Without `__data_loc`, `__rel_loc` and brackets.
    pub(super) type_name: &'t str,
    pub(super) dynamic: Option<Place>,
    /// What stands in the brackets behind the name.
    pub(super) brackets: Option<&'t str>,
}

impl<'t> Declaration<'t> {
    /// `[__data_loc | __rel_loc] TYPE[brackets] NAME[brackets]`
    pub(super) fn parse(text: &'t str) -> Result<Self, Fault<'t>> {
        let text = text.trim();
        let (dynamic, rest) = match text.split_once(char::is_whitespace) {
            Some(("__data_loc", rest)) => (Some(Place::DataLoc), rest),
            Some(("__rel_loc", rest)) => (Some(Place::RelLoc), rest),
            _ => (None, text),
        };
        let (rest, brackets) = split_brackets(rest);
        let name = rest
            .rsplit(|c: char| c.is_whitespace() || matches!(c, '*' | ')' | ']'))
            .next()
            .unwrap_or_default();
        if name.is_empty() {
            return Err(Fault { expected: "a type and a name", found: text });
        }
        let (type_name, _) = split_brackets(rest.strip_suffix(name).unwrap_or_default());
        if type_name.is_empty() {
            return Err(Fault { expected: "a type before the name", found: text });
        }
        Ok(Self { name, type_name, dynamic, brackets })
    }
}

/// Splits `name[a][b]` into `name` and `a][b`. Sizes of old kernels are expressions and may hold brackets themselves.
fn split_brackets(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let mut depth = 0u32;
    let mut start = None;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b']' => depth += 1,
            b'[' if depth > 1 => depth -= 1,
            b'[' if depth == 1 => {
                depth = 0;
                start = Some(at);
            }
            _ if depth == 0 => break,
            _ => {}
        }
    }
    match start.and_then(|at| text.split_at_checked(at)) {
        Some((before, group)) => {
            let inner = group.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            (before.trim_end(), inner.map(str::trim))
        }
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (&str, &str, Option<Place>, Option<&str>) {
        let Declaration { name, type_name, dynamic, brackets } = Declaration::parse(text).unwrap();
        (type_name, name, dynamic, brackets)
    }

    #[test]
    fn every_form_of_the_kernel_is_taken_apart() {
        let (data, rel) = (Some(Place::DataLoc), Some(Place::RelLoc));
        for (text, expected) in [
            ("unsigned short common_type", ("unsigned short", "common_type", None, None)),
            ("char prev_comm[16]", ("char", "prev_comm", None, Some("16"))),
            ("char comm[TASK_COMM_LEN]", ("char", "comm", None, Some("TASK_COMM_LEN"))),
            ("u8 mac[sizeof(x[0]) * 2]", ("u8", "mac", None, Some("sizeof(x[0]) * 2"))),
            ("int grid[2][3]", ("int", "grid", None, Some("2][3"))),
            ("unsigned long args[]", ("unsigned long", "args", None, Some(""))),
            ("void * alarm", ("void *", "alarm", None, None)),
            ("const char *const * argv", ("const char *const *", "argv", None, None)),
            ("const void *const rule_attr", ("const void *const", "rule_attr", None, None)),
            ("void *p", ("void *", "p", None, None)),
            ("__data_loc char[] name", ("char", "name", data, None)),
            ("__data_loc unsigned int[] lengths", ("unsigned int", "lengths", data, None)),
            ("__data_loc cpumask_t cpus", ("cpumask_t", "cpus", data, None)),
            ("__rel_loc char name[]", ("char", "name", rel, Some(""))),
            ("__rel_loc char[] name", ("char", "name", rel, None)),
            ("__rel_loc cpumask_t cpus", ("cpumask_t", "cpus", rel, None)),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn broken_declarations_are_refused() {
        for text in
            ["", "  ", "x", "__data_loc", "__data_loc x", "[]", "int ]", "int x]", "[3", "int *", "a[b"]
        {
            assert!(Declaration::parse(text).is_err(), "{text}");
        }
    }
}
