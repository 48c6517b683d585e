use std::os::fd::AsFd;

use perf_sys::abi::bpf::BpfCmd;

use crate::syscall::prog_functions;
use crate::{Error, ObjectName, ProgramFd};

/// The machine code of a function of a program, from [`ProgramFd::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramFunction {
    /// Address in the kernel.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
}

impl ProgramFd {
    /// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns where the machine code of the program is: of its main function, then of
    /// its other ones. Since Linux 4.18.
    ///
    /// The list is empty if the program is interpreted, or if this process must not see addresses of the kernel
    /// (`kernel.kptr_restrict`).
    #[doc(alias = "jited_ksyms")]
    #[doc(alias = "jited_func_lens")]
    pub fn functions(&self) -> Result<Vec<ProgramFunction>, Error> {
        let fail = Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, ObjectName::EMPTY);
        // The first call returns the number, which does not change.
        let count = prog_functions(self.as_fd(), &mut [], &mut []).map_err(&fail)?.0 as usize;
        let (mut addresses, mut lengths) = (vec![0; count], vec![0; count]);
        prog_functions(self.as_fd(), &mut addresses, &mut lengths).map_err(&fail)?;
        let functions = addresses.into_iter().zip(lengths);
        let functions = functions.map(|(address, len)| ProgramFunction { address, len });
        Ok(functions.filter(|function| function.address != 0 && function.len != 0).collect())
    }
}
