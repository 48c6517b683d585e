//! Fields of the attr, for explanations.

use core::mem::offset_of;
use std::fmt;

use perf_ring::{Attr, AttrFlags, BranchSampleType, Clock, SampleType};

/// A field of the attr, or the target or filter that comes with it.
#[derive(Clone, Copy)]
pub struct Field(&'static Row);

struct Row {
    name: &'static str,
    /// Offset in the attr, in bytes; 0 for a second name of the same bytes, and for entries that
    /// are not fields.
    offset: usize,
    value: fn(&Attr) -> String,
    /// Clears the field and the bit that needs it. `None` if the event would then be a different
    /// one.
    clear: Option<fn(&mut Attr)>,
}

/// Each row is a name, where the field is (`at`, or `also` for a second name of the same bytes),
/// how its value prints, and how it is cleared.
macro_rules! fields {
    (@clear) => { None };
    (@clear $clear:expr) => { Some($clear) };
    ($($FIELD:ident $name:literal
        $(at $at:ident $at_format:literal)? $(also $also:ident $also_format:literal)? $(clear $clear:expr)?;)*) => {
        impl Field {
            $(
                #[doc = concat!("`", $name, "`.")]
                pub const $FIELD: Self = Self(&Row {
                    name: $name,
                    offset: 0 $(+ offset_of!(Attr, $at))?,
                    value: |_attr| String::new() $(+ &format!($at_format, _attr.$at))? $(+ &format!($also_format, _attr.$also))?,
                    clear: fields!(@clear $($clear)?),
                });
            )*
            /// All fields, in the order of the struct.
            pub(super) const ALL: &'static [Self] = &[$(Self::$FIELD),*];
        }
    };
}

fields! {
    TYPE "type" at kind "{}";
    CONFIG "config" at config "{:#x}";
    SAMPLE_PERIOD "sample_period" at sample_period "{}";
    SAMPLE_FREQ "sample_freq" also sample_period "{} Hz";
    SAMPLE_TYPE "sample_type" at sample_type "{}";
    READ_FORMAT "read_format" at read_format "{}";
    FLAGS "flags" at flags "{}";
    BP_TYPE "bp_type" at bp_type "{}";
    BP_ADDR "bp_addr" also config1 "{:#x}";
    BP_LEN "bp_len" also config2 "{}";
    CONFIG2 "config2" at config2 "{:#x}";
    BRANCH_SAMPLE_TYPE "branch_sample_type" at branch_sample_type "{}" clear clear_branches;
    SAMPLE_REGS_USER "sample_regs_user" at sample_regs_user "{:#x}" clear |attr| *attr = attr.replace_regs_user(0);
    SAMPLE_STACK_USER "sample_stack_user" at sample_stack_user "{}" clear clear_stack;
    CLOCKID "clockid" at clockid "{}" clear clear_clock;
    SAMPLE_REGS_INTR "sample_regs_intr" at sample_regs_intr "{:#x}" clear |attr| *attr = attr.replace_regs_intr(0);
    AUX_WATERMARK "aux_watermark" at aux_watermark "{}" clear |attr| attr.aux_watermark = 0;
    SAMPLE_MAX_STACK "sample_max_stack" at sample_max_stack "{}" clear |attr| attr.sample_max_stack = 0;
    RESERVED_2 "reserved_2" at reserved_2 "{}";
    AUX_SAMPLE_SIZE "aux_sample_size" at aux_sample_size "{}" clear |attr| *attr = attr.with_aux_sample_size(0);
    AUX_ACTION "aux_action" at aux_action "{}";
    SIG_DATA "sig_data" at sig_data "{}" clear |attr| attr.sig_data = 0;
    CONFIG3 "config3" at config3 "{:#x}";
    CONFIG4 "config4" at config4 "{:#x}";
    CPU "cpu";
    TARGET "target";
    FILTER "filter";
}

fn clear_branches(attr: &mut Attr) {
    *attr = attr.replace_branch_sample_type(BranchSampleType::empty());
}

fn clear_stack(attr: &mut Attr) {
    attr.sample_stack_user = 0;
    attr.sample_type -= SampleType::STACK_USER;
}

fn clear_clock(attr: &mut Attr) {
    attr.clockid = Clock(0);
    attr.flags -= AttrFlags::USE_CLOCKID;
}

impl Field {
    /// Returns the fields that are not 0 and that an attr of `size` bytes does not have, in the
    /// order of the struct.
    pub(super) fn beyond(attr: &Attr, size: u32) -> impl Iterator<Item = Self> + '_ {
        let is_beyond = move |field: &Self| field.0.offset >= size as usize;
        Self::ALL.iter().copied().filter(move |field| is_beyond(field) && field.is_set(attr))
    }

    /// Returns the name in the attr.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the value as text; empty for entries that are not fields of the attr.
    pub(super) fn value(self, attr: &Attr) -> String {
        (self.0.value)(attr)
    }

    /// Returns whether the field is not 0.
    pub(super) fn is_set(self, attr: &Attr) -> bool {
        self.value(attr) != self.value(&Attr::default())
    }

    /// Clears the field and the bit that needs it. Returns whether the event can do without.
    pub(super) fn clear(self, attr: &mut Attr) -> bool {
        if let Some(clear) = self.0.clear {
            clear(attr);
        }
        self.0.clear.is_some()
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}

/// Fields are equal if they have the same name.
impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Field {}

#[cfg(test)]
mod tests {
    use perf_ring::{BreakpointLen, BreakpointType, Software};

    use super::*;

    #[test]
    fn fields_print_their_name_and_are_equal_by_it() {
        assert_eq!(
            (format!("{}", Field::CONFIG2), format!("{:?}", Field::CONFIG2)),
            ("config2".into(), "config2".into())
        );
        assert_eq!(Field::CONFIG2, Field::CONFIG2);
        assert_ne!(Field::CONFIG2, Field::BP_LEN);
        assert!(
            Field::ALL.iter().all(|field| Field::ALL.iter().filter(|other| *other == field).count() == 1)
        );
    }

    #[test]
    fn fields_that_an_older_kernel_lacks_are_listed() {
        let beyond = |attr: Attr, size| Field::beyond(&attr, size).map(Field::name).collect::<Vec<_>>();
        let attr = Attr::software(Software::DUMMY).with_aux_watermark(1).with_max_stack(1);
        assert_eq!(beyond(Attr::software(Software::DUMMY), Attr::SIZE_VER0), [""; 0]);
        assert_eq!(beyond(attr, Attr::SIZE_VER0), ["aux_watermark", "sample_max_stack"]);
        assert_eq!(beyond(attr, Attr::SIZE_VER4), ["aux_watermark", "sample_max_stack"]);
        assert_eq!(beyond(attr, Attr::SIZE_VER5), [""; 0]);
        let watch = Attr::breakpoint(BreakpointType::WRITE, 64, BreakpointLen::FOUR);
        assert_eq!(beyond(watch, Attr::SIZE_VER0), ["config2"], "one name for the same bytes");
        assert_eq!((Field::BP_ADDR.value(&watch), Field::BP_LEN.value(&watch)), ("0x40".into(), "4".into()));
    }
}
