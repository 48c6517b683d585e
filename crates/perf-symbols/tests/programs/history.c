/* Changes what is mapped at its addresses in each way that a program can, and runs code there for some time.
 *
 * history FIRST_LIBRARY SECOND_LIBRARY: both export spin(), whose code needs nothing outside itself.
 * history spin: runs for some time and ends.
 * history wait: ends when its standard input does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long (*Spin)(long);

static const long ROUNDS = 20 * 1000 * 1000;
static const char *libraries[2];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static Spin load(int which, void **handle)
{
    *handle = dlopen(libraries[which], RTLD_NOW);
    if (!*handle)
        fail(dlerror());
    return (Spin)dlsym(*handle, "spin");
}

/* The second library is loaded where the first one was. */
static void load_in_turn(void)
{
    for (int i = 0; i < 6; i++) {
        void *handle;
        load(i % 2, &handle)(ROUNDS);
        dlclose(handle);
    }
}

/* The code of both libraries at one address, one after the other, by MAP_FIXED. */
static void map_over(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *at = NULL;
    for (int i = 0; i < 6; i++) {
        void *handle;
        Dl_info info;
        uintptr_t code = (uintptr_t)load(i % 2, &handle);
        dladdr((void *)code, &info);
        /* The library is linked with file offsets equal to its addresses. */
        uintptr_t offset = code - (uintptr_t)info.dli_fbase;
        dlclose(handle);
        int fd = open(libraries[i % 2], O_RDONLY);
        int fixed = at ? MAP_FIXED : 0;
        void *mapped = mmap(at, 4 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE | fixed, fd, offset / page * page);
        if (fd < 0 || mapped == MAP_FAILED)
            fail("mmap");
        close(fd);
        at = mapped;
        ((Spin)(at + offset % page))(ROUNDS);
        /* What remains of the last pages is in another mapping then. */
        if (i == 3 && munmap(at + 2 * page, 2 * page))
            fail("munmap");
    }
}

static void *thread(void *spin)
{
    prctl(PR_SET_NAME, "worker");
    ((Spin)spin)(ROUNDS);
    return NULL;
}

static void run_threads(void)
{
    void *handle;
    Spin spin = load(0, &handle);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, (void *)spin);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    dlclose(handle);
}

/* Starts a process with this id if it is free; 0 for any id, and where the kernel does not permit to choose. */
static pid_t start(pid_t wanted)
{
    struct clone_args args = { .exit_signal = SIGCHLD };
    if (wanted) {
        args.set_tid = (uintptr_t)&wanted;
        args.set_tid_size = 1;
    }
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    return pid < 0 && wanted ? start(0) : pid;
}

/* Processes that have one id in turn: each runs another library, and every other one execs. */
static void reuse_an_id(const char *self)
{
    pid_t id = 0;
    for (int i = 0; i < 6; i++) {
        void *handle;
        Spin spin = load(i % 2, &handle);
        id = start(id);
        if (id < 0)
            fail("clone3");
        if (id == 0) {
            if (i % 2)
                execl(self, self, "spin", NULL);
            spin(ROUNDS);
            /* One that dies by a signal. */
            raise(SIGKILL);
        }
        dlclose(handle);
        waitpid(id, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] == 'w')
        return getchar() != EOF;
    if (argc == 2) {
        for (volatile long i = 0; i < ROUNDS; i++)
            ;
        return 0;
    }
    if (argc != 3)
        return 2;
    libraries[0] = argv[1];
    libraries[1] = argv[2];
    load_in_turn();
    map_over();
    run_threads();
    reuse_an_id("/proc/self/exe");
    return 0;
}
