/* A heap: one reserved stretch of addresses of which pieces are handed out, the same ones from run
 * to run for the same calls. Not thread-safe; range.c holds its lock. */
#ifndef CTS_CPU_HEAP_H
#define CTS_CPU_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cts_heap;

/* Reserves `reserve_bytes` (less if the system refuses) at `address`, or elsewhere if that is
 * taken or 0; at most `limit_bytes` can be in use. NULL when nothing can be reserved. */
struct cts_heap *cts_heap_create(uint64_t address, uint64_t reserve_bytes, uint64_t limit_bytes);

/* Gives the addresses back; no allocation of it may be used any more. */
void cts_heap_destroy(struct cts_heap *heap);

/* Zero-filled memory at a multiple of 512, or 0 when the limit is reached. */
uint64_t cts_heap_allocate(struct cts_heap *heap, uint64_t size_bytes);

/* `size_bytes` as it was allocated. */
void cts_heap_free(struct cts_heap *heap, uint64_t address, uint64_t size_bytes);

uint64_t cts_heap_used_bytes(const struct cts_heap *heap);
uint64_t cts_heap_limit_bytes(const struct cts_heap *heap);
bool cts_heap_contains(const struct cts_heap *heap, uint64_t address);

#endif
