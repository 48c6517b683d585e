/* Stacks that end in one way each. Usage: ends WAY, for some hundred milliseconds. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void spin(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) {
        sum += i;
    }
}

static ucontext_t origin, context;

static void in_fiber(void) {
    spin(400000000);
    sum++;
    swapcontext(&context, &origin);
}

/* A stack that libc has made. */
static void fiber(void) {
    getcontext(&context);
    context.uc_stack.ss_sp = malloc(65536);
    context.uc_stack.ss_size = 65536;
    context.uc_link = &origin;
    makecontext(&context, in_fiber, 0);
    swapcontext(&origin, &context);
}

static void handle(int signal) {
    spin(400000000);
    sum += signal;
}

/* A handler with its own stack. */
static void handler(void) {
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

/* A frame that no copy has. */
static void large(void) {
    char frame[100000];
    memset(frame, 1, sizeof frame);
    spin(400000000);
    sum += frame[sum % sizeof frame];
}

/* Many frames. */
__attribute__((noinline)) static void deep(int depth) {
    char frame[1000];
    memset(frame, 1, sizeof frame);
    if (depth == 0) {
        spin(400000000);
    } else {
        deep(depth - 1);
    }
    sum += frame[sum % sizeof frame];
}

#ifdef __x86_64__
/* Frames that are found by another register, and by nothing. The frame pointer is no address.
   by_saved keeps its frame in a register that the function which it calls saves: saves says where, hides does not. */
__asm__(".text\n"
        ".type by_register, @function\n"
        "by_register:\n"
        ".cfi_startproc\n"
        "mov %rsp, %rax\n"
        ".cfi_def_cfa %rax, 8\n"
        "sub $64, %rsp\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "mov %rax, %rsp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size by_register, .-by_register\n"
        ".type by_nothing, @function\n"
        "by_nothing:\n"
        "push %rbp\n"
        "mov $1, %ebp\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "pop %rbp\n"
        "ret\n"
        ".size by_nothing, .-by_nothing\n"
        /* The frame pointer leads to an address in code that was not called. */
        ".type by_guess, @function\n"
        "by_guess:\n"
        "push %rbp\n"
        "pushq $0x1234\n"
        "lea 4+spin_for(%rip), %rax\n"
        "push %rax\n"
        "pushq $1\n"
        "mov %rsp, %rbp\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "add $24, %rsp\n"
        "pop %rbp\n"
        "ret\n"
        ".size by_guess, .-by_guess\n"
        ".type by_saved, @function\n"
        "by_saved:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbx, -16\n"
        "mov %rsp, %rbx\n"
        ".cfi_def_cfa_register %rbx\n"
        "and $-64, %rsp\n"
        "call *%rsi\n"
        "mov %rbx, %rsp\n"
        ".cfi_def_cfa_register %rsp\n"
        "pop %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size by_saved, .-by_saved\n"
        ".type saves, @function\n"
        "saves:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbx, -16\n"
        "xor %ebx, %ebx\n"
        "call spin_for\n"
        "pop %rbx\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size saves, .-saves\n"
        ".type hides, @function\n"
        "hides:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "push %rbx\n"
        "xor %ebx, %ebx\n"
        "call spin_for\n"
        "pop %rbx\n"
        "pop %rbp\n"
        "ret\n"
        ".size hides, .-hides\n");
void by_register(unsigned long n);
void by_nothing(unsigned long n);
void by_guess(unsigned long n);
void saves(unsigned long n);
void hides(unsigned long n);
void by_saved(unsigned long n, void (*callee)(unsigned long));

/* For assembly code. */
__attribute__((noinline, visibility("hidden"))) void spin_for(unsigned long n) {
    spin(n);
    sum++;
}
#endif

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    if (strcmp(way, "fiber") == 0) {
        fiber();
    } else if (strcmp(way, "handler") == 0) {
        handler();
    } else if (strcmp(way, "large") == 0) {
        large();
    } else if (strcmp(way, "deep") == 0) {
        deep(50);
#ifdef __x86_64__
    } else if (strcmp(way, "register") == 0) {
        by_register(800000000);
    } else if (strcmp(way, "nothing") == 0) {
        by_nothing(800000000);
    } else if (strcmp(way, "guess") == 0) {
        by_guess(800000000);
    } else if (strcmp(way, "saved") == 0) {
        by_saved(400000000, saves);
    } else if (strcmp(way, "hidden") == 0) {
        by_saved(400000000, hides);
#endif
    }
    return 0;
}
