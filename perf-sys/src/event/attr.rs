use perf_abi::Attr;

use crate::error::{Call, Errno, Error};

/// A copy of an attr for a system call, into which the kernel may write the size that it expects.
///
/// The attr's size is never larger than [`Attr`], so the kernel reads no memory after it. An `Attr`
/// has no fields after its end, so the bytes left out are zero.
#[derive(Debug)]
pub(super) struct AttrArgument {
    attr: Attr,
    passed_size: u32,
}

impl AttrArgument {
    pub(super) fn new(attr: &Attr) -> Self {
        let passed_size = attr.size.min(size_of::<Attr>() as u32);
        Self { attr: Attr { size: passed_size, ..*attr }, passed_size }
    }

    pub(super) const fn as_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }

    /// Returns the error for `errno` from a call that takes an attr. `E2BIG` is about the attr only if
    /// the kernel wrote its own size.
    pub(super) fn refused(&self, call: Call, errno: Errno) -> Error {
        let kernel = self.attr.size;
        if errno == Errno::E2BIG && kernel != self.passed_size {
            return Error::AttrSize { kernel, call };
        }
        Error::System { call, errno }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_never_reads_past_the_attr() {
        let mut passed = AttrArgument::new(&Attr { size: 4096, ..Attr::default() });
        assert_eq!(passed.as_mut().size as usize, size_of::<Attr>());
    }

    #[test]
    fn size_changed_by_the_kernel_is_in_the_error() {
        let mut passed = AttrArgument::new(&Attr::default());
        passed.as_mut().size = 136;
        let error = passed.refused(Call::IocModifyAttributes, Errno::E2BIG);
        assert_eq!(error, Error::AttrSize { kernel: 136, call: Call::IocModifyAttributes });
    }

    #[test]
    fn unchanged_size_means_another_cause() {
        let error = AttrArgument::new(&Attr::default()).refused(Call::PerfEventOpen, Errno::E2BIG);
        assert_eq!((error.call(), error.errno()), (Some(Call::PerfEventOpen), Some(Errno::E2BIG)));
        assert!(error.to_string().ends_with("a read of the group would be longer than 16 KiB"), "{error}");
    }
}
