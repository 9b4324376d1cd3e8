// The lines of tests/fixtures/curand/h200.txt, and how numbers are compared with them.
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct sequence {
    std::string kind;
    long first;
    std::vector<double> values; // integers of 32 bits, floats and doubles alike fit
};
struct block {
    std::string where, generator;
    unsigned long long seed, subsequence, offset; // of host generators: seed and order
    std::vector<sequence> sequences;
};

// Blocks of "device" or "host", from the fixture in the tree that has `source`.
static std::vector<block> read_blocks(const char *source, const std::string &where)
{
    std::string folder = source;
    folder.erase(folder.rfind('/'));
    std::ifstream file(folder + "/../../fixtures/curand/h200.txt");
    std::vector<block> blocks;
    bool wanted = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "device" || word == "host") {
            wanted = word == where;
            if (!wanted) continue;
            block made = {word, "", 0, 0, 0, {}};
            words >> made.generator >> made.seed >> made.subsequence >> made.offset;
            blocks.push_back(made);
        } else if (wanted) {
            sequence made = {word, 0, {}};
            size_t count;
            words >> made.first >> count;
            while (words >> word) made.values.push_back(strtod(word.c_str(), nullptr));
            CHECK(made.values.size() == count, "'%s' has %zu numbers", line.c_str(),
                  made.values.size());
            blocks.back().sequences.push_back(made);
        }
    }
    CHECK(!blocks.empty(), "no sequences beside %s", source);
    return blocks;
}

// Uniform numbers and integers are NVIDIA's. A normal number is a product of functions whose last
// bits differ: `__sincosf` of a GPU is off by up to 2^-21 of its size.
struct comparison {
    long numbers = 0, same = 0;
    double largest = 0;
};
static comparison exact, normal_float, normal_double;

static void compare(const block &block, const sequence &sequence, long i, double got)
{
    const double expected = sequence.values[i];
    const bool is_normal = sequence.kind.find("normal") != std::string::npos;
    const bool is_double = sequence.kind.find("double") != std::string::npos;
    comparison &kept = !is_normal ? exact : is_double ? normal_double : normal_float;
    const double off = std::fabs(got - expected);
    kept.numbers++;
    kept.same += off == 0;
    if (off > kept.largest) kept.largest = off;
    const double allowed = !is_normal ? 0 : is_double ? 2e-15 : 4e-6;
    CHECK(off <= allowed, "%s %s %llu %llu %llu: %s %ld: %a, not %a", block.where.c_str(),
          block.generator.c_str(), block.seed, block.subsequence, block.offset,
          sequence.kind.c_str(), sequence.first + i, got, expected);
}

static void print_comparisons()
{
    printf("exact: %ld of %ld\n", exact.same, exact.numbers);
    printf("normal floats: %ld of %ld the same, off by %.2g at most\n", normal_float.same,
           normal_float.numbers, normal_float.largest);
    printf("normal doubles: %ld of %ld the same, off by %.2g at most\n", normal_double.same,
           normal_double.numbers, normal_double.largest);
}
