// A program with inlined functions of several levels, templates and library code, for the comparison with addr2line.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace shapes {
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

template <typename T> struct Box : Shape {
    T width, height;
    Box(T width, T height) : width(width), height(height) {}
    double area() const override { return double(width) * double(height); }
};

static inline double scaled(const Shape &shape, double factor) { return shape.area() * factor; }
} // namespace shapes

static inline long mixed(long value) { return value * 31 + (value >> 3); }
static inline long twice_mixed(long value) { return mixed(mixed(value)); }

__attribute__((noinline)) long words(const std::vector<std::string> &texts)
{
    std::map<std::string, long> counts;
    for (const auto &text : texts)
        counts[text] += twice_mixed(long(text.size()));
    return std::accumulate(counts.begin(), counts.end(), 0L,
                           [](long sum, const auto &entry) { return sum + mixed(entry.second); });
}

int main(int argc, char **argv)
{
    std::vector<std::string> texts(argv, argv + argc);
    for (int i = 0; i < 1000; i++)
        texts.push_back(std::to_string(mixed(i)));
    std::sort(texts.begin(), texts.end(), [](const auto &a, const auto &b) { return a.size() < b.size() || a < b; });
    std::vector<std::unique_ptr<shapes::Shape>> all;
    for (int i = 0; i < 100; i++) {
        all.push_back(std::make_unique<shapes::Box<int>>(i, i + 1));
        all.push_back(std::make_unique<shapes::Box<double>>(i, i * 0.5));
    }
    double sum = 0;
    for (const auto &shape : all)
        sum += shapes::scaled(*shape, 2);
    std::printf("%ld %f\n", words(texts), sum);
}
