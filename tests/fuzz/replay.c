/* Runs a fuzz target over the files of a corpus, and over spoiled copies of each: bits flipped,
 * bytes set, ends cut, in a sequence that is always the same. Any compiler builds it, so that the
 * corpus is tried everywhere and not only where there is libFuzzer.
 *
 * Usage: TARGET-replay directory [spoiled copies per file]; 2000 without. The gate tries a third of
 * them: where code reads or writes too far, libFuzzer looks in the build that would see it. */
#include <dirent.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEPT_BYTES = 1 << 30 };

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) * limit >> 31);
}

static void die(const char *what, const char *path)
{
    fprintf(stderr, "cannot %s '%s'\n", what, path);
    exit(1);
}

static uint8_t *read_bytes(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) die("open", path);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *const bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size) die("read", path);
    fclose(file);
    return bytes;
}

/* The first byte chooses the target's mode and stays. */
static size_t spoil(uint8_t *bytes, size_t size)
{
    static const uint8_t favourites[] = {0, 1, 2, 7, 8, 127, 128, 255};
    for (uint32_t n = 1 + random_below(4); n && size > 1; n--) {
        const size_t at = 1 + random_below((uint32_t)size - 1);
        switch (random_below(8)) {
        case 0:
            size = at;
            break;
        case 1:
        case 2:
            bytes[at] = favourites[random_below(sizeof favourites)];
            break;
        case 3:
            bytes[at] = (uint8_t)(bytes[at] + 1 - 2 * random_below(2));
            break;
        default:
            bytes[at] ^= (uint8_t)(1u << random_below(8));
        }
    }
    return size;
}

/* Each input in memory of just its size, so that a sanitizer sees every byte too far. */
static void run_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *const copy = malloc(size + !size);
    if (!copy) die("copy", "an input");
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void replay(const char *path, long spoiled_count)
{
    size_t size;
    uint8_t *const bytes = read_bytes(path, &size);
    uint8_t *const spoiled = malloc(size + 1);
    if (!spoiled) die("copy", path);
    run_copy(bytes, size);
    for (long i = 0; i < spoiled_count; i++) {
        memcpy(spoiled, bytes, size);
        run_copy(spoiled, spoil(spoiled, size));
    }
    free(spoiled);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s directory [spoiled copies per file]\n", argv[0]);
        return 2;
    }
    /* Memory that an input has freed serves the next one: given back to the kernel and cleared for
     * each of them, it takes ten times as long as the rest. */
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    const long full_count = argc > 2 ? strtol(argv[2], NULL, 10) : 2000;
    const long spoiled_count = cts_test_count((unsigned)(full_count + 2) / 3, (unsigned)full_count);
    struct dirent **entries;
    const int count = scandir(argv[1], &entries, NULL, alphasort);
    if (count < 0) die("read directory", argv[1]);
    unsigned replayed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            replay(path, spoiled_count);
            replayed++;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%u files, each with %ld spoiled copies\n", replayed, spoiled_count);
    return replayed ? 0 : 1;
}
