/* Makes up a text, counts its words and sorts its lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUCKETS
#define BUCKETS 1024
#endif
enum { WORDS = 8000000, LENGTH = 16 };

struct entry { struct entry *next; unsigned count; char word[LENGTH]; };
static struct entry *table[BUCKETS];
static const char *lines[WORDS / 40];
static int entries;

static unsigned random_number(void) {
    static unsigned x = 42;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    return x;
}

static char *make_text(void) {
    char *text = malloc(WORDS * LENGTH), *end = text;
    for (int i = 0; i < WORDS; i++) {
        if (i % 40 == 0)
            lines[i / 40] = end;
        for (unsigned n = 2000 + random_number() % 150 * (random_number() % 150); n; n /= 7)
            *end++ = "etaoins"[n % 7];
        *end++ = i % 40 == 39 ? '\n' : ' ';
    }
    *end = 0;
    return text;
}

static const char *parse(const char *text, char *word) {
    while (*text == ' ' || *text == '\n')
        text++;
    while (*text > ' ')
        *word++ = *text++;
    *word = 0;
    return text;
}

static unsigned hash(const char *word) {
    unsigned hash = 2166136261;
    for (; *word; word++)
        hash = (hash ^ *word) * 16777619;
    return hash;
}

static int equal(const char *a, const char *b) {
    for (; *a && *a == *b; a++, b++) {}
    return *a == *b;
}

static struct entry *find(struct entry *entry, const char *word) {
    while (entry && !equal(entry->word, word))
        entry = entry->next;
    return entry;
}

static struct entry *insert(struct entry **bucket, const char *word) {
    struct entry *entry = calloc(1, sizeof *entry);
    strcpy(entry->word, word);
    entry->next = *bucket;
    entries++;
    return *bucket = entry;
}

static void count_words(const char *text) {
    char word[LENGTH];
    while (text = parse(text, word), *word) {
        struct entry **bucket = &table[hash(word) % BUCKETS];
        struct entry *entry = find(*bucket, word);
        (entry ? entry : insert(bucket, word))->count++;
    }
}

static int compare(const char *a, const char *b) {
    for (; *a == *b && *a != '\n'; a++, b++) {}
    return *a - *b;
}

static void sift_down(int top, int len) {
    for (int child; (child = 2 * top + 1) < len; top = child) {
        child += child + 1 < len && compare(lines[child + 1], lines[child]) > 0;
        if (compare(lines[top], lines[child]) >= 0)
            break;
        const char *line = lines[top];
        lines[top] = lines[child], lines[child] = line;
    }
}

static void sort_lines(int len) {
    for (int top = len / 2; top-- > 0;)
        sift_down(top, len);
    while (len-- > 1) {
        const char *line = lines[len];
        lines[len] = lines[0], lines[0] = line;
        sift_down(0, len);
    }
}

int main(void) {
    count_words(make_text());
    sort_lines(WORDS / 40);
    printf("%d words; first line: %.40s...\n", entries, lines[0]);
}
