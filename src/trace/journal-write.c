/* An entry is put together in a buffer, copied behind the last one, and counts when its size has
 * been stored: a process that is killed meanwhile leaves a size of 0, which ends the journal. */
#include "trace/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/acc-format.h"

enum { RESERVE_BYTES = 8 << 10 }; /* for the last words: ranks, messages, keys */

enum cts_status cts_journal_create(struct cts_journal *journal, const char *run_path,
                                   const struct cts_rank *self, struct cts_error *error)
{
    char *path = NULL;
    *journal = (struct cts_journal){0};
    if (asprintf(&path, "%s/rank-%u/" CTS_JOURNAL_NAME, run_path, self->rank) < 0)
        return cts_fail(error, CTS_MEMORY, "no memory for a path");
    const enum cts_status status =
        cts_mapped_file_create(&journal->file, path, CTS_JOURNAL_HEADER_BYTES, true, error);
    free(path);
    if (status) return status;
    struct cts_journal_header *const header = (void *)journal->file.header;
    journal->header = header;
    header->version = CTS_JOURNAL_VERSION;
    header->rank = self->rank;
    header->pid = self->pid;
    header->start_ns = self->start_ns;
    header->is_locked = journal->file.is_locked;
    atomic_store(&header->state, CTS_JOURNAL_OPEN);
    memcpy(header->magic, CTS_JOURNAL_MAGIC, sizeof header->magic);
    return CTS_OK;
}

/* ---- an entry ---- */

static enum cts_status put_bytes(struct cts_journal *journal, const void *bytes, size_t byte_count,
                                 struct cts_error *error)
{
    return cts_buffer_append(&journal->scratch, bytes, byte_count, error);
}

static enum cts_status put_value(struct cts_journal *journal, enum cts_journal_value type,
                                 uint64_t number, struct cts_error *error)
{
    uint8_t bytes[9] = {type};
    cts_put_u64(bytes + 1, number);
    return put_bytes(journal, bytes, type == CTS_JOURNAL_NULL ? 1 : sizeof bytes, error);
}

static enum cts_status put_text(struct cts_journal *journal, const char *text,
                                struct cts_error *error)
{
    if (!text) return put_value(journal, CTS_JOURNAL_NULL, 0, error);
    const size_t length = strlen(text);
    enum cts_status status = put_value(journal, CTS_JOURNAL_TEXT, length, error);
    if (!status) status = put_bytes(journal, text, length, error);
    return status;
}

static enum cts_status begin(struct cts_journal *journal, enum cts_journal_kind kind,
                             unsigned table, unsigned value_count, struct cts_error *error)
{
    const uint8_t head[4] = {(uint8_t)kind, (uint8_t)table, (uint8_t)value_count, 0};
    cts_buffer_clear(&journal->scratch);
    return put_bytes(journal, head, sizeof head, error);
}

static enum cts_status finish(struct cts_journal *journal, bool essential, struct cts_error *error)
{
    static const uint8_t zeros[8];
    const size_t size_bytes = journal->scratch.size_bytes;
    enum cts_status status = put_bytes(journal, zeros, (8 - size_bytes % 8) % 8, error);
    if (status) return status;
    const size_t padded_bytes = journal->scratch.size_bytes;
    const size_t entry_bytes = CTS_JOURNAL_ENTRY_BYTES + padded_bytes;
    uint8_t *to;
    status = cts_mapped_file_room(&journal->file, entry_bytes + (essential ? 0 : RESERVE_BYTES),
                                  &to, error);
    if (status) return status;
    memcpy(to + CTS_JOURNAL_ENTRY_BYTES, journal->scratch.data, padded_bytes);
    cts_put_u32(to + 4, cts_acc_crc32c(0, journal->scratch.data, size_bytes));
    uint8_t size[4];
    cts_put_u32(size, (uint32_t)size_bytes);
    uint32_t word;
    memcpy(&word, size, sizeof word);
    atomic_store_explicit((_Atomic uint32_t *)(void *)to, word, memory_order_release);
    cts_mapped_file_commit(&journal->file, entry_bytes);
    return CTS_OK;
}

/* ---- rows ---- */

/* What a table's number and values mean, said once: journals outlive versions of ctascope. */
static enum cts_status describe(struct cts_journal *journal, enum cts_table_id id, bool essential,
                                struct cts_error *error)
{
    const struct cts_table *const table = &cts_tables[id];
    enum cts_status status = begin(journal, CTS_JOURNAL_TABLE, id, 1 + table->column_count, error);
    if (!status) status = put_text(journal, table->name, error);
    for (unsigned i = 0; !status && i < table->column_count; i++)
        status = put_text(journal, table->columns[i].name, error);
    if (!status) status = finish(journal, essential, error);
    if (!status) journal->described[id] = true;
    return status;
}

enum cts_status cts_journal_add_row(struct cts_journal *journal, enum cts_table_id id,
                                    const void *row, bool essential, struct cts_error *error)
{
    const struct cts_table *const table = &cts_tables[id];
    enum cts_status status = CTS_OK;
    if (!journal->described[id]) status = describe(journal, id, essential, error);
    if (!status) status = begin(journal, CTS_JOURNAL_ROW, id, table->column_count, error);
    for (unsigned i = 0; !status && i < table->column_count; i++) {
        const struct cts_table_column *const column = &table->columns[i];
        if (column->type == CTS_COLUMN_TEXT)
            status = put_text(journal, cts_column_text(column, row), error);
        else if (cts_column_is_null(column, row))
            status = put_value(journal, CTS_JOURNAL_NULL, 0, error);
        else
            status = put_value(journal, CTS_JOURNAL_NUMBER, cts_column_number(column, row), error);
    }
    return status ? status : finish(journal, essential, error);
}

enum cts_status cts_journal_add_key(struct cts_journal *journal, const char *key, const char *value,
                                    struct cts_error *error)
{
    enum cts_status status = begin(journal, CTS_JOURNAL_KEY, 0, 2, error);
    if (!status) status = put_text(journal, key, error);
    if (!status) status = put_text(journal, value, error);
    return status ? status : finish(journal, true, error);
}

enum cts_status cts_journal_add_end(struct cts_journal *journal, enum cts_journal_kind kind,
                                    uint64_t id, uint64_t op, struct cts_error *error)
{
    enum cts_status status = begin(journal, kind, 0, 2, error);
    if (!status) status = put_value(journal, CTS_JOURNAL_NUMBER, id, error);
    if (!status) status = put_value(journal, CTS_JOURNAL_NUMBER, op, error);
    return status ? status : finish(journal, false, error);
}

enum cts_status cts_journal_close(struct cts_journal *journal, bool abandon,
                                  struct cts_error *error)
{
    if (journal->header && !abandon) atomic_store(&journal->header->state, CTS_JOURNAL_CLOSED);
    cts_buffer_release(&journal->scratch);
    const enum cts_status status = cts_mapped_file_close(&journal->file, abandon, error);
    *journal = (struct cts_journal){0};
    return status;
}
