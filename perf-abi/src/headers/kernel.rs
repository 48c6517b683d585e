//! The type information of a running kernel, Linux 6.18, as JSON.

use serde_json::Value;
use std::{format, println};

/// Types and constants of the kernel.
pub(super) struct Kernel(pub(super) Value);

/// Name in C, offset and size of a field of this crate, in bytes.
pub(super) type Field = (&'static str, usize, usize);

/// All [`Field`]s of a struct; the pattern does not compile if a field is in neither list.
macro_rules! fields {
    ($Type:ident { $($field:ident $(= $c_name:literal)?),* $(,)? } $(not in kernel: $($extra:ident)*)?) => {{
        let value: $Type = zerocopy::FromZeros::new_zeroed();
        let $Type { $($field,)* $($($extra: _,)*)? } = value;
        std::vec![$((
            [stringify!($field) $(, $c_name)?].last().copied().unwrap(),
            core::mem::offset_of!($Type, $field),
            size_of_val(&$field),
        )),*]
    }};
}
pub(super) use fields;

impl Kernel {
    pub(super) fn load() -> Self {
        Self(serde_json::from_str(include_str!("btf-layout.json")).unwrap())
    }

    pub(super) fn size(&self, c_type: &str) -> usize {
        number(&self.0["types"][c_type], "size")
    }

    fn member(&self, c_type: &str, name: &str) -> &Value {
        let members = self.0["types"][c_type]["members"].as_array().unwrap();
        let found = members.iter().find(|member| member["name"] == name);
        found.unwrap_or_else(|| panic!("{c_type} has no member {name}"))
    }

    /// Asserts that each field has the kernel's offset, `base` bytes into the kernel's type, and
    /// size.
    pub(super) fn has_fields(&self, c_type: &str, prefix: &str, base: usize, fields: &[Field]) {
        for (name, offset, size) in fields {
            let member = self.member(c_type, &format!("{prefix}{name}"));
            assert_eq!(number(member, "offset"), base + offset, "offset of {prefix}{name} in {c_type}");
            assert_eq!(number(member, "size"), *size, "size of {prefix}{name} in {c_type}");
        }
        println!("{c_type} {prefix}: {} fields compared", fields.len());
    }
}

fn number(value: &Value, key: &str) -> usize {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}")).try_into().unwrap()
}
