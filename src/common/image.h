/* Which of the process's images (the program, a library) an address lies in.
 *
 * dladdr() and dlopen() wait for a thread that is loading a library and runs its constructors, and
 * these may be waiting for whoever asks. dl_iterate_phdr() waits for no constructor. */
#ifndef CTS_COMMON_IMAGE_H
#define CTS_COMMON_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cts_image {
    uintptr_t low, high; /* first address, and the one behind the last */
    uintptr_t bias;      /* what is added to the addresses of its file */
    const char *path;    /* the dynamic linker's, valid while it is loaded; "": the program */
};

struct cts_image_search {
    uintptr_t address;
    struct cts_image *image;
};

static inline int cts_image_visit(struct dl_phdr_info *info, size_t size_bytes, void *user)
{
    const struct cts_image_search *const search = (const struct cts_image_search *)user;
    struct cts_image image = {UINTPTR_MAX, 0, info->dlpi_addr, info->dlpi_name};
    bool holds = false;
    (void)size_bytes;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD) continue;
        if (search->address - start < part->p_memsz) holds = true;
        if (start < image.low) image.low = start;
        if (start + part->p_memsz > image.high) image.high = start + part->p_memsz;
    }
    if (holds) *search->image = image;
    return holds;
}

/* False: in none. */
static inline bool cts_image_find(const void *address, struct cts_image *image)
{
    struct cts_image_search search = {(uintptr_t)address, image};
    return dl_iterate_phdr(cts_image_visit, &search) != 0;
}

static inline bool cts_image_holds(const struct cts_image *image, uint64_t address)
{
    return address >= image->low && address < image->high;
}

#endif
