//! The parts that a program without libc needs: an entry point, an exit, and the four memory
//! routines that the compiler may call at any time.
//!
//! The program defines `check`, whose result becomes the exit code.
#![no_std]
#![cfg(target_arch = "x86_64")]

core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call check",
    "mov edi, eax",
    ".globl exit",
    "exit:",
    "mov eax, 231", // exit_group
    "syscall",
    "ud2",
);

unsafe extern "C" {
    /// Ends the program with this code, 0 to 255.
    pub safe fn exit(code: i32) -> !;
}

// In assembly, because the compiler turns a loop that copies into a call of the very function it is in.
core::arch::global_asm!(
    ".globl memcpy",
    "memcpy:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "rep movsb",
    "ret",
    ".globl memmove",
    "memmove:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "mov r8, rdi",
    "sub r8, rsi",
    "cmp r8, rdx",
    "jb 2f", // the target starts inside the source: copy from the end
    "rep movsb",
    "ret",
    "2:",
    "lea rdi, [rdi + rdx - 1]",
    "lea rsi, [rsi + rdx - 1]",
    "std",
    "rep movsb",
    "cld",
    "ret",
    ".globl memset",
    "memset:",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
    ".globl memcmp",
    ".globl bcmp",
    "memcmp:",
    "bcmp:",
    "mov rcx, rdx",
    "xor eax, eax",
    "xor edx, edx",
    "cmp rcx, rcx", // equal, if there is nothing to compare
    "repe cmpsb",
    // The source, the second argument, is what the flags compare with the first.
    "setb al",
    "seta dl",
    "sub eax, edx",
    "ret",
);

/// The prebuilt core was compiled for unwinding and names this; nothing here ever calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
