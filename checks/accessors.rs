//! The accessors of all views by name, for the fuzz targets and for the proof that none can panic.
//!
//! Each macro passes its list to the macro whose name it is given.

/// Every kind but samples with its accessors, without those that all views have.
macro_rules! side_band_accessors {
    ($each:ident) => {
        $each! {
            Mmap: pid tid addr len pgoff filename is_executable,
            Lost: id lost,
            Comm: pid tid comm exec,
            Exit: pid ppid tid ptid own_time,
            Throttle: id stream_id own_time,
            Unthrottle: id stream_id own_time,
            Fork: pid ppid tid ptid own_time,
            Read: pid tid read,
            Mmap2: pid tid addr len pgoff file maj min ino ino_generation build_id prot flags is_executable filename,
            Aux: aux_offset aux_size flags,
            ItraceStart: pid tid,
            LostSamples: lost,
            Switch: direction,
            SwitchCpuWide: direction next_prev_pid next_prev_tid,
            Namespaces: pid tid namespaces,
            Ksymbol: addr len ksym_type flags name,
            BpfEvent: bpf_type flags id tag,
            Cgroup: id path,
            TextPoke: addr old_len new_len old_bytes new_bytes bytes,
            AuxOutputHwId: hw_id,
            CallchainDeferred: cookie ips,
        }
    };
}

/// The fields of a sample's head and those after it, each with the bits of `sample_type` that record
/// it.
macro_rules! sample_accessors {
    ($each:ident) => {
        $each! {
            head: identifier IDENTIFIER, ip IP, pid TID, tid TID, time TIME, addr ADDR, id ID,
                stream_id STREAM_ID, cpu CPU, period PERIOD;
            parts: read READ, callchain CALLCHAIN, raw RAW, branches BRANCH_STACK, regs_user REGS_USER,
                stack_user STACK_USER, weight WEIGHT WEIGHT_STRUCT, data_src DATA_SRC,
                transaction TRANSACTION, regs_intr REGS_INTR, phys_addr PHYS_ADDR, cgroup CGROUP,
                data_page_size DATA_PAGE_SIZE, code_page_size CODE_PAGE_SIZE, aux AUX;
        }
    };
}
