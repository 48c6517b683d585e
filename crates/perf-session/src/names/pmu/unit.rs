//! The numbers of instances at the end of the names of PMUs.

/// Splits `uncore_imc_12` into the name of its unit and its number; a name without one is its unit,
/// and the number is empty. Hexadecimal numbers have more than two digits.
pub(super) fn split(name: &str, may_be_hexadecimal: bool) -> (&str, &str) {
    match name.rsplit_once('_') {
        Some((unit, number)) if !unit.is_empty() && is_number(number, may_be_hexadecimal) => (unit, number),
        _ => (name, ""),
    }
}

fn is_number(text: &str, may_be_hexadecimal: bool) -> bool {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hexadecimal = text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    !text.is_empty() && (is_decimal || may_be_hexadecimal && is_hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_long_hexadecimal_ones() {
        assert_eq!(split("uncore_imc_0", true), ("uncore_imc", "0"));
        assert_eq!(split("uncore_imc_12", true), ("uncore_imc", "12"));
        assert_eq!(split("mrvl_ddr_pmu_87e1b0000000", true), ("mrvl_ddr_pmu", "87e1b0000000"));
        assert_eq!(split("uncore_imc_free_running", true), ("uncore_imc_free_running", ""));
        assert_eq!(split("cpum_cf", true), ("cpum_cf", ""));
        assert_eq!(split("unit_abc", true), ("unit", "abc"));
        assert_eq!(split("unit_ab", true), ("unit_ab", ""));
    }

    #[test]
    fn name_of_a_core_does_not_end_in_a_hexadecimal_number() {
        assert_eq!(split("armv8_cortex_a53", false), ("armv8_cortex_a53", ""));
        assert_eq!(split("armv8_pmuv3_0", false), ("armv8_pmuv3", "0"));
    }

    #[test]
    fn name_is_never_empty() {
        for name in ["", "_", "_0", "cpu", "cpu_", "12"] {
            assert_eq!(split(name, true), (name, ""));
        }
    }
}
