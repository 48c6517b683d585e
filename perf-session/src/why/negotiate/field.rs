use std::fmt;

use perf_sys::abi::AuxAction;
use perf_sys::{Attr, AttrFlags, Clock, SampleType};

/// A field of the attr after the first published length, [`Attr::SIZE_VER0`].
#[derive(Clone, Copy)]
pub struct AttrField(&'static Row);

struct Row {
    name: &'static str,
    /// Its first byte after it.
    end: u32,
    is_set: fn(&Attr) -> bool,
    /// Clears the field, and the bit that needs it. `None` if the event would be another one.
    clear: Option<fn(&mut Attr)>,
}

const fn row(name: &'static str, end: u32, is_set: fn(&Attr) -> bool, clear: Option<fn(&mut Attr)>) -> Row {
    Row { name, end, is_set, clear }
}

#[rustfmt::skip] // one row a line
const ROWS: &[Row] = &[
    row("config2", 72, |a| a.config2 != 0, None),
    row("branch_sample_type", 80, |a| !a.branch_sample_type.is_empty(), Some(clear_branches)),
    row("sample_regs_user", 88, |a| a.sample_regs_user != 0, Some(clear_regs_user)),
    row("sample_stack_user", 92, |a| a.sample_stack_user != 0, Some(clear_stack_user)),
    row("clockid", 96, |a| a.clockid != Clock(0), Some(clear_clock)),
    row("sample_regs_intr", 104, |a| a.sample_regs_intr != 0, Some(clear_regs_intr)),
    row("aux_watermark", 108, |a| a.aux_watermark != 0, Some(|a| a.aux_watermark = 0)),
    row("sample_max_stack", 110, |a| a.sample_max_stack != 0, Some(|a| a.sample_max_stack = 0)),
    row("reserved_2", 112, |a| a.reserved_2 != 0, None),
    row("aux_sample_size", 116, |a| a.aux_sample_size != 0, Some(clear_aux)),
    row("aux_action", 120, |a| a.aux_action != AuxAction::empty(), None),
    row("sig_data", 128, |a| a.sig_data != 0, Some(|a| a.sig_data = 0)),
    row("config3", 136, |a| a.config3 != 0, None),
    row("config4", 144, |a| a.config4 != 0, None),
];

impl AttrField {
    /// Returns the fields that are not 0 and not all in the first `size` bytes of the attr.
    pub(crate) fn beyond(attr: &Attr, size: u32) -> impl Iterator<Item = Self> + '_ {
        ROWS.iter().filter(move |row| row.end > size && (row.is_set)(attr)).map(Self)
    }

    /// Returns all fields, in the order of the struct.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(Self)
    }

    /// Returns the name in the attr.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    pub(super) fn is_set(self, attr: &Attr) -> bool {
        (self.0.is_set)(attr)
    }

    /// Clears the field and the bit that needs it. Returns whether the event can do without.
    pub(super) fn clear(self, attr: &mut Attr) -> bool {
        match self.0.clear {
            Some(clear) => {
                clear(attr);
                true
            }
            None => false,
        }
    }
}

pub(super) fn clear_branches(attr: &mut Attr) {
    *attr = attr.replace_branch_sample_type(perf_sys::BranchSampleType::empty());
}

pub(super) fn clear_regs_user(attr: &mut Attr) {
    *attr = attr.replace_regs_user(0);
}

pub(super) fn clear_stack_user(attr: &mut Attr) {
    attr.sample_stack_user = 0;
    attr.sample_type -= SampleType::STACK_USER;
}

pub(super) fn clear_clock(attr: &mut Attr) {
    attr.clockid = Clock(0);
    attr.flags -= AttrFlags::USE_CLOCKID;
}

pub(super) fn clear_regs_intr(attr: &mut Attr) {
    *attr = attr.replace_regs_intr(0);
}

pub(super) fn clear_aux(attr: &mut Attr) {
    *attr = attr.with_aux_sample_size(0);
}

impl fmt::Display for AttrField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}

impl fmt::Debug for AttrField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}

/// Fields are equal if they have the same name.
impl PartialEq for AttrField {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for AttrField {}
