//! Printing a whole payload.

use core::fmt;

use super::Fields;

/// A payload that prints as `name=value name=value`; made by [`Format::display`](super::Format::display).
///
/// Fields that do not lie within the payload print as `?`.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'t, 'a> {
    pub(super) fields: Fields<'t>,
    pub(super) raw: &'a [u8],
}

impl fmt::Display for Payload<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blank = "";
        for field in self.fields {
            write!(f, "{blank}{}={}", field.name, field.value(self.raw))?;
            blank = " ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::super::Format;
    use super::super::fixture::{SCHED_SWITCH, sched_switch_payload};

    #[test]
    fn a_cut_payload_prints_what_is_left() {
        let format = Format::parse(SCHED_SWITCH).unwrap();
        assert_eq!(
            format.display(&sched_switch_payload()[..60]).to_string(),
            "prev_comm=thr prev_pid=27788 prev_prio=120 prev_state=-1 next_comm=cargo next_pid=27790 next_prio=?"
        );
    }
}
