/* Two threads that wait: one for a lock, the other with it. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static unsigned long entries;

__attribute__((noinline)) static void write_log(void) {
    nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
}

/* Holds the lock while it waits for the log. */
__attribute__((noinline)) static void add_entry(void) {
    pthread_mutex_lock(&table);
    entries++;
    write_log();
    pthread_mutex_unlock(&table);
}

static void *worker(void *rounds) {
    for (long i = 0; i < (long)rounds; i++)
        add_entry();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)100);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu entries\n", entries);
    return 0;
}
