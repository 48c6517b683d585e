//! Leaves frames of code that a runtime wrote.

use framehop::FrameAddress;

use super::StackEnd;
use super::machine::Machine;
use super::modules::code_at;
use super::sections::Entry;
use super::trail::Passed;
use super::walker::{By, Next, Walk, Walker};
use crate::ObjectKind;

impl<M: Machine> Walker<M> {
    /// Finds the caller of code that a runtime wrote: a trampoline of Python, or a function with
    /// unwind information in a jitdump. Returns `None` if the code is something else.
    pub(super) fn next_by_runtime(
        &mut self,
        walk: &mut Walk<'_, '_>,
        address: FrameAddress,
        registers: &mut M::Registers,
    ) -> Option<Result<Next, StackEnd>> {
        let lookup = address.address_for_lookup();
        let mapping = code_at(walk.spaces, walk.pid, lookup)?;
        if mapping.object().kind() == ObjectKind::File {
            return None;
        }
        let code = self.runtime_code.find(&walk.options.finder, walk.spaces, walk.pid, lookup)?;
        if let Some(sections) = code.sections() {
            return match sections.entry::<M>(lookup, &mut self.context) {
                Entry::Outermost => Some(Err(StackEnd::Complete)),
                Entry::Caller { .. } | Entry::General => {
                    self.catch_up(walk, registers);
                    Some(walk.leave::<M>(&sections, &mut self.context, (lookup, 0), registers))
                }
                Entry::Missing | Entry::Signal | Entry::Unsafe => None,
            };
        }
        let reader = &mut walk.reader;
        let place = (address.address() - code.start, code.len);
        let Ok(next) = M::leave_trampoline(registers, place, |address| reader.read(address))? else {
            let address = reader.failed.first().copied()?;
            return Some(Err(reader.beyond(address).unwrap_or(StackEnd::BadFrame { address })));
        };
        let address = FrameAddress::from_return_address(next)?;
        walk.trail.passed.push(Passed::Trampoline);
        Some(Ok(Next { address, by: By::UnwindInfo }))
    }
}
