//! The part of a profile that its samples use. Filtered samples leave unused stacks.

use crate::profile::Profile;

/// Returns, for each stack, whether it is the stack of a sample or of one of its callers.
pub(super) fn used_stacks(profile: &Profile) -> Vec<bool> {
    let mut used = vec![false; profile.stacks().len()];
    for stack in profile.samples().iter().filter_map(|sample| sample.stack) {
        set(&mut used, stack.index());
    }
    let callers: Vec<_> = profile.stacks().map(|(_, caller)| caller).collect();
    // Callers have smaller ids, so that each is marked before its turn.
    for (index, caller) in callers.into_iter().enumerate().rev() {
        if let (Some(true), Some(caller)) = (used.get(index), caller) {
            set(&mut used, caller.index());
        }
    }
    used
}

/// Returns, for each location, whether it is in the stack of a sample.
pub(super) fn used_locations(profile: &Profile) -> Vec<bool> {
    let mut used = vec![false; profile.locations().as_slice().len()];
    for ((location, _), is_used) in profile.stacks().zip(used_stacks(profile)) {
        if is_used {
            set(&mut used, location.index());
        }
    }
    used
}

fn set(bits: &mut [bool], index: usize) {
    if let Some(bit) = bits.get_mut(index) {
        *bit = true;
    }
}
