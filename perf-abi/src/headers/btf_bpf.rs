//! BPF structs against the type information of a running kernel.

use super::kernel::{Kernel, fields};
use crate::bpf::*;

#[test]
#[rustfmt::skip] // one list of names a struct
fn arguments_have_the_kernels_layout() {
    let kernel = Kernel::load();
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfMapCreate {
        map_type, key_size, value_size, max_entries, map_flags, inner_map_fd, numa_node, map_name, map_ifindex,
        btf_fd, btf_key_type_id, btf_value_type_id, btf_vmlinux_value_type_id, map_extra, value_type_btf_obj_fd,
        map_token_fd, excl_prog_hash, excl_prog_hash_size,
    } not in kernel: reserved));
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfMapElem { map_fd, key, value, flags } not in kernel: reserved));
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfMapNextKey { map_fd, key, next_key } not in kernel: reserved));
    kernel.has_fields("bpf_attr", "batch.", 0, &fields!(BpfMapBatch {
        in_batch, out_batch, keys, values, count, map_fd, elem_flags, flags,
    }));
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfProgLoad {
        prog_type, insn_cnt, insns, license, log_level, log_size, log_buf, kern_version, prog_flags, prog_name,
        prog_ifindex, expected_attach_type, prog_btf_fd, func_info_rec_size, func_info, func_info_cnt,
        line_info_rec_size, line_info, line_info_cnt, attach_btf_id, attach_prog_fd, core_relo_cnt, fd_array,
        core_relos, core_relo_rec_size, log_true_size, prog_token_fd, fd_array_cnt, signature, signature_size,
        keyring_id,
    }));
    kernel.has_fields("bpf_attr", "test.", 0, &fields!(BpfProgRun {
        prog_fd, retval, data_size_in, data_size_out, data_in, data_out, repeat, duration, ctx_size_in,
        ctx_size_out, ctx_in, ctx_out, flags, cpu, batch_size,
    } not in kernel: reserved));
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfObj { pathname, bpf_fd, file_flags, path_fd } not in kernel: reserved));
    kernel.has_fields("bpf_attr", "info.", 0, &fields!(BpfObjInfo { bpf_fd, info_len, info }));
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfNextId { start_id, next_id, open_flags }));
    kernel.has_fields("bpf_attr", "", 0, &fields!(BpfFdById { id = "prog_id", next_id, open_flags }));
    kernel.has_fields("bpf_attr", "raw_tracepoint.", 0, &fields!(BpfRawTracepointOpen { name, prog_fd, cookie } not in kernel: reserved));
    kernel.has_fields("bpf_attr", "link_create.", 0, &fields!(BpfLinkCreate {
        prog_fd, target_fd, attach_type, flags, bpf_cookie = "perf_event.bpf_cookie",
    }));
    kernel.has_fields("bpf_attr", "link_update.", 0, &fields!(BpfLinkUpdate {
        link_fd, new_prog_fd, flags, old_prog_fd,
    }));
    kernel.has_fields("bpf_attr", "task_fd_query.", 0, &fields!(BpfTaskFdQuery {
        pid, fd, flags, buf_len, buf, prog_id, fd_type, probe_offset, probe_addr,
    }));
    kernel.has_fields("bpf_attr", "enable_stats.", 0, &fields!(BpfEnableStats { kind = "type" }));
}

#[test]
#[rustfmt::skip] // one list of names a struct
fn information_has_the_kernels_layout() {
    let kernel = Kernel::load();
    kernel.has_fields("bpf_insn", "", 0, &fields!(BpfInsn { code, regs = "dst_reg", off, imm }));
    kernel.has_fields("bpf_perf_event_value", "", 0, &fields!(BpfPerfEventValue { counter, enabled, running }));
    kernel.has_fields("bpf_prog_info", "", 0, &fields!(BpfProgInfo {
        kind = "type", id, tag, jited_prog_len, xlated_prog_len, jited_prog_insns, xlated_prog_insns, load_time,
        created_by_uid, nr_map_ids, map_ids, name, ifindex, gpl_compatible, netns_dev, netns_ino, nr_jited_ksyms,
        nr_jited_func_lens, jited_ksyms, jited_func_lens, btf_id, func_info_rec_size, func_info, nr_func_info,
        nr_line_info, line_info, jited_line_info, nr_jited_line_info, line_info_rec_size, jited_line_info_rec_size,
        nr_prog_tags, prog_tags, run_time_ns, run_cnt, recursion_misses, verified_insns, attach_btf_obj_id,
        attach_btf_id,
    } not in kernel: reserved));
    kernel.has_fields("bpf_link_info", "", 0, &fields!(BpfLinkInfo {
        kind = "type", id, prog_id, perf_kind = "perf_event.type",
    } not in kernel: reserved reserved_2 details));
    assert_eq!(kernel.size("bpf_prog_info"), size_of::<BpfProgInfo>());
    assert_eq!(kernel.size("bpf_link_info"), size_of::<BpfLinkInfo>());
    assert_eq!(kernel.size("bpf_attr"), size_of::<BpfProgLoad>());
}

#[test]
#[rustfmt::skip] // one list of names a struct
fn details_of_a_link_have_the_kernels_layout() {
    let kernel = Kernel::load();
    let details = core::mem::offset_of!(BpfLinkInfo, details);
    kernel.has_fields("bpf_link_info", "perf_event.uprobe.", details, &fields!(BpfUprobeLinkInfo {
        file_name, name_len, offset, cookie, ref_ctr_offset,
    } not in kernel: reserved));
    kernel.has_fields("bpf_link_info", "perf_event.kprobe.", details, &fields!(BpfKprobeLinkInfo {
        func_name, name_len, offset, addr, missed, cookie,
    }));
    kernel.has_fields("bpf_link_info", "perf_event.tracepoint.", details, &fields!(BpfTracepointLinkInfo {
        tp_name, name_len, cookie,
    } not in kernel: reserved reserved_2 reserved_3));
    kernel.has_fields("bpf_link_info", "perf_event.event.", details, &fields!(BpfEventLinkInfo {
        config, kind = "type", cookie,
    } not in kernel: reserved reserved_2 reserved_3));
}

#[test]
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip] // one list of names a struct
fn the_context_of_a_program_has_the_kernels_layout() {
    let kernel = Kernel::load();
    kernel.has_fields("bpf_perf_event_data", "", 0, &fields!(BpfPerfEventData { regs, sample_period, addr }));
    kernel.has_fields("pt_regs", "", 0, &fields!(PtRegs {
        r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs = "csx", flags, sp,
        ss = "ssx",
    }));
}
