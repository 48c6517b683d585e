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
/* Frames that are found by another register, and by nothing. The frame pointer is no address. */
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
        ".size by_nothing, .-by_nothing\n");
void by_register(unsigned long n);
void by_nothing(unsigned long n);
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
#endif
    }
    return 0;
}
