//! The accessors of samples by name, for the fuzz targets and for the proof that none can panic. The
//! views of other records call all their accessors in `Debug`.

/// The fields of a sample's head and those after it, each with the bits of `sample_type` that record
/// it. Passes the list to the macro whose name it is given.
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
