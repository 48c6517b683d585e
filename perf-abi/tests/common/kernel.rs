//! The type information of a kernel, and comparing our structs with it.

use serde_json::Value;

/// Types and constants of a kernel.
pub(crate) struct Kernel(pub(crate) Value);

/// Name in C, offset and size in bytes of one of our fields.
pub(crate) type Field = (&'static str, usize, usize);

/// All [`Field`]s of a struct; the pattern does not compile if a field is in neither list.
macro_rules! fields {
    ($Type:ident { $($field:ident $(= $c_name:literal)?),* $(,)? } $(not in kernel: $($extra:ident)*)?) => {{
        let value: perf_abi::$Type = zerocopy::FromZeros::new_zeroed();
        let perf_abi::$Type { $($field,)* $($($extra: _,)*)? } = value;
        vec![$((
            [stringify!($field) $(, $c_name)?].last().copied().unwrap(),
            std::mem::offset_of!(perf_abi::$Type, $field),
            size_of_val(&$field),
        )),*]
    }};
}
pub(crate) use fields;

impl Kernel {
    pub(crate) fn load() -> Self {
        Self(serde_json::from_str(include_str!("../data/btf-layout.json")).unwrap())
    }

    pub(crate) fn size(&self, c_type: &str) -> usize {
        number(&self.0["types"][c_type], "size")
    }

    fn member(&self, c_type: &str, name: &str) -> &Value {
        let members = self.0["types"][c_type]["members"].as_array().unwrap();
        let found = members.iter().find(|member| member["name"] == name);
        found.unwrap_or_else(|| panic!("{c_type} has no member {name}"))
    }

    /// Asserts that each field is where the kernel has it, `base` bytes into the kernel's type.
    pub(crate) fn has_fields(&self, c_type: &str, prefix: &str, base: usize, fields: &[Field]) {
        for (name, offset, size) in fields {
            let member = self.member(c_type, &format!("{prefix}{name}"));
            assert_eq!(number(member, "offset"), base + offset, "offset of {prefix}{name} in {c_type}");
            assert_eq!(number(member, "size"), *size, "size of {prefix}{name} in {c_type}");
        }
        println!("{c_type} {prefix}: {} fields compared", fields.len());
    }

    /// The bits of a bit field, counted from the lowest bit of the word at `base`.
    pub(crate) fn mask(&self, c_type: &str, name: &str, base: usize) -> u64 {
        let member = self.member(c_type, name);
        let first = (number(member, "offset") - base) * 8 + number(member, "bit_offset");
        (u64::MAX >> (64 - number(member, "bit_width"))) << first
    }
}

fn number(value: &Value, key: &str) -> usize {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}")).try_into().unwrap()
}
