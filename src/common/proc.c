#include "common/proc.h"

#include <fcntl.h>
#include <unistd.h>

void cts_proc_text(const char *path, char *text, size_t text_bytes)
{
    text[0] = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t length = read(file, text, text_bytes - 1);
    close(file);
    if (length <= 0) return;
    text[length] = 0;
    for (ssize_t i = 0; i + 1 < length; i++)
        if (!text[i]) text[i] = ' ';
    if (text[length - 1] == '\n') text[length - 1] = 0;
}
