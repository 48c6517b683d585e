use perf_abi::Attr;

use crate::{Call, Errno, Error};

/// An attr on its way into the kernel, which writes its own size into it if it does not like ours.
///
/// Holding one proves that the attr's size is not larger than the attr: the kernel reads no other
/// memory. A field that an [`Attr`] does not have is zero, and so is what the kernel would look for.
#[derive(Debug)]
pub(crate) struct AttrArgument {
    attr: Attr,
    asked: u32,
}

impl AttrArgument {
    pub(crate) fn new(attr: &Attr) -> Self {
        let asked = attr.size.min(size_of::<Attr>() as u32);
        Self { attr: Attr { size: asked, ..*attr }, asked }
    }

    pub(crate) const fn as_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }

    /// What `call` meant by `errno`: E2BIG is about the attr only if the kernel wrote its size back.
    pub(crate) fn refused(&self, call: Call, errno: Errno) -> Error {
        match errno {
            Errno::E2BIG if self.attr.size != self.asked => Error::AttrSize { kernel: self.attr.size, call },
            errno => Error::System { call, errno },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_never_reads_behind_the_attr() {
        let mut passed = AttrArgument::new(&Attr { size: 4096, ..Attr::default() });
        assert_eq!(passed.as_mut().size as usize, size_of::<Attr>());
    }

    #[test]
    fn a_size_written_back_is_the_kernels() {
        let mut passed = AttrArgument::new(&Attr::default());
        passed.as_mut().size = 136;
        let error = passed.refused(Call::PerfEventOpen, Errno::E2BIG);
        assert_eq!(error, Error::AttrSize { kernel: 136, call: Call::PerfEventOpen });
    }

    #[test]
    fn a_size_left_alone_means_the_group_is_too_large() {
        let error = AttrArgument::new(&Attr::default()).refused(Call::PerfEventOpen, Errno::E2BIG);
        assert_eq!(error, Error::System { call: Call::PerfEventOpen, errno: Errno::E2BIG });
    }
}
