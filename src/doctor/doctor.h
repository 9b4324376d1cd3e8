/* What a machine has and can record; for verb doctor. Parts are looked for (doctor-parts.c),
 * recorders are tried (doctor-tests.c). */
#ifndef CTS_DOCTOR_DOCTOR_H
#define CTS_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CTS_DOCTOR_PARTS_MAX = 32,
    CTS_DOCTOR_RECORDERS_MAX = 8,
    CTS_DOCTOR_VERSION_TIMEOUT_S = 20,
};

struct cts_doctor_part {
    const char *name;
    const char *purpose;
    const char *remedy; /* what to do where it is absent */
    bool needed;        /* by the CPU device */
    bool found;
    char detail[512]; /* version and place, or what was looked for */
};

struct cts_doctor_recorder {
    const char *name;
    bool possible; /* its parts are there */
    bool tested, works;
    char outcome[1024]; /* of the test, or what it lacks */
};

struct cts_doctor {
    struct cts_doctor_part parts[CTS_DOCTOR_PARTS_MAX];
    size_t part_count;
    struct cts_doctor_recorder recorders[CTS_DOCTOR_RECORDERS_MAX];
    size_t recorder_count;
};

/* Nothing is linked or loaded into this process: files are looked for, and programs are asked. */
void cts_doctor_look(struct cts_doctor *doctor);
/* The part of a name; it exists. */
const struct cts_doctor_part *cts_doctor_part(const struct cts_doctor *doctor, const char *name);

/* Fills recorders. `test`: those whose parts are there record a kernel in a temporary directory,
 * each in a second or so, and their runs are read back and compared with what the kernel did. */
void cts_doctor_try(struct cts_doctor *doctor, bool test);

/* The program that the GPU recorders are tried with, in static storage. */
const char *cts_doctor_gpu_program(void);

#endif
