// Stacks of different kinds: recursion, virtual calls, sorting with a comparator, exceptions, signals, a thread, libraries, and
// large frames. Usage: `stacks [ROUNDS]`.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static volatile unsigned long sink;

__attribute__((noinline)) unsigned long spin(unsigned long n) {
    unsigned long x = n | 1;
#ifdef KEEP_FRAMES
    // gcc makes no frame for a function without calls, whatever its options.
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
#endif
    for (int i = 0; i < 3000; i++) x = x * 6364136223846793005ul + (x >> 33);
    return x;
}

__attribute__((noinline)) unsigned long recurse(int depth, unsigned long n) {
    volatile char frame[64];
    frame[depth % 64] = (char)n;
    if (depth == 0) return spin(n) + frame[0];
    unsigned long below = recurse(depth - 1, n + 1);
    return below + spin(below) + frame[depth % 64];
}

struct Figure {
    virtual ~Figure() = default;
    virtual unsigned long area(unsigned long n) const = 0;
};
struct Square : Figure {
    unsigned long area(unsigned long n) const override { return spin(n) + 1; }
};
struct Circle : Figure {
    unsigned long area(unsigned long n) const override { return spin(n) * 3; }
};

__attribute__((noinline)) unsigned long figures(unsigned long n) {
    std::unique_ptr<Figure> all[] = {std::make_unique<Square>(), std::make_unique<Circle>()};
    unsigned long sum = 0;
    for (int i = 0; i < 20; i++) sum += all[(n + i) % 2]->area(i);
    return sum;
}

__attribute__((noinline)) unsigned long sorted(unsigned long n) {
    std::vector<unsigned long> values(50);
    for (size_t i = 0; i < values.size(); i++) values[i] = (i * 2654435761ul + n) % 1009;
    std::sort(values.begin(), values.end(), [](unsigned long a, unsigned long b) { return (spin(a) & 1) + a < (spin(b) & 1) + b; });
    return values[n % values.size()];
}

__attribute__((noinline)) unsigned long exceptions(unsigned long n) {
    unsigned long caught = 0;
    for (int i = 0; i < 40; i++) {
        try {
            if (spin(n + i) % 2 == 0) throw std::runtime_error("even");
            caught += 2;
        } catch (const std::exception& error) {
            caught += error.what()[0];
        }
    }
    return caught;
}

__attribute__((noinline)) unsigned long large_frame(unsigned long n) {
    volatile char frame[12000];
    for (size_t i = 0; i < sizeof frame; i += 512) frame[i] = (char)spin(n + i);
    return frame[n % sizeof frame];
}

__attribute__((noinline)) unsigned long library(unsigned long n) {
    std::map<std::string, unsigned long> words;
    for (int i = 0; i < 300; i++) words[std::to_string((i * 7919ul + n) % 997)] += i;
    std::function<unsigned long(unsigned long)> add = [&](unsigned long x) { return spin(x) + words.size(); };
    return add(n);
}

static void handler(int signal) {
    for (int i = 0; i < 20; i++) sink = sink + spin(signal + i);
}

__attribute__((noinline)) unsigned long signals(unsigned long n) {
    raise(SIGUSR1);
    return sink + n;
}

__attribute__((noinline)) void work(unsigned long rounds) {
    for (unsigned long n = 0; n < rounds; n++) {
        for (int i = 0; i < 8; i++) sink = sink + recurse(12, n);
        sink = sink + figures(n) + sorted(n) + exceptions(n) + library(n) + signals(n);
        if (n % 8 == 0) sink = sink + large_frame(n);
    }
}

int main(int argc, char** argv) {
    unsigned long rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 100;
    signal(SIGUSR1, handler);
    std::thread other(work, rounds / 4);
    work(rounds);
    other.join();
    return 0;
}
