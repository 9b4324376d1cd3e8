/* What a program's NVTX does to load an injected library, and calls through the tables that it got:
 * without NVTX's headers, so that this runs where there is no toolkit. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

typedef void any_function(void);
static any_function *slots[7][16];
static any_function **tables[7][16];

static int table_of(int module, any_function ****table, unsigned *size)
{
    if (module < 0 || module > 6) return 0;
    for (int i = 0; i < 16; i++) tables[module][i] = &slots[module][i];
    *table = tables[module];
    *size = 16;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*table_of)(int, any_function ****, unsigned *);
    } callbacks = {sizeof(callbacks), table_of};
    return id == 1 ? &callbacks : NULL;
}

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static struct attributes text(int type, const void *message)
{
    return (struct attributes){
        .version = 3, .size = sizeof(struct attributes), .message_type = type, .message = message};
}

static int push(const char *name)
{
    return ((int (*)(const char *))slots[1][9])(name);
}
static int pop(void)
{
    return ((int (*)(void))slots[1][11])();
}
static uint64_t start(const char *name)
{
    return ((uint64_t (*)(const char *))slots[1][5])(name);
}
static void end(uint64_t id)
{
    ((void (*)(uint64_t))slots[1][7])(id);
}
static void name_thread(uint32_t thread, const char *name)
{
    ((void (*)(uint32_t, const char *))slots[1][14])(thread, name);
}

static uint32_t main_thread;

static void *other_thread(void *range)
{
    push("in the other");
    end((uint64_t)(uintptr_t)range); /* that main started */
    pop();
    name_thread(main_thread, "main by another");
    return NULL;
}

static void check(int got, int expected, const char *what)
{
    if (got == expected) return;
    fprintf(stderr, "%s: %d, not %d\n", what, got, expected);
    exit(1);
}

int main(void)
{
    const char *const path = getenv("NVTX_INJECTION64_PATH");
    void *const library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*const initialize)(const void *(*)(uint32_t)) =
        library ? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2")
                : NULL;
    if (!initialize) return 3;
    if (!initialize(export_table)) return 4;
    main_thread = (uint32_t)syscall(SYS_gettid);
    name_thread(main_thread, "main by itself");
    check(push("outer"), 0, "level");
    check(push("inner"), 1, "level");
    ((void (*)(const char *))slots[1][2])("a mark");
    check(pop(), 1, "level after");
    struct attributes wide = text(2, L"gr\u00f6\u00dfer \u2211 \U0001F600");
    check(((int (*)(const void *))slots[1][8])(&wide), 1, "level");
    check(pop(), 1, "level after");
    check(pop(), 0, "level after");
    check(pop(), -1, "nothing is open");
    /* Two domains whose ranges overlap. */
    void *const first = ((void *(*)(const char *))slots[5][12])("first");
    void *const second = ((void *(*)(const char *))slots[5][12])("second");
    void *const string = ((void *(*)(void *, const char *))slots[5][10])(first, "registered");
    struct attributes registered = text(3, string), plain = text(1, "plain"), none = text(0, NULL);
    ((int (*)(void *, const void *))slots[5][4])(first, &registered);
    ((int (*)(void *, const void *))slots[5][4])(second, &plain);
    ((int (*)(void *))slots[5][5])(first);
    ((int (*)(void *))slots[5][5])(second);
    ((void (*)(void *, const void *))slots[5][1])(second, &none);
    ((void (*)(void *))slots[5][14])(second);
    /* Ranges that overlap, and one that another thread ends. */
    const uint64_t one = start("one"), two = start("two");
    end(one);
    end(two);
    const uint64_t far = start("far");
    pthread_t thread;
    pthread_create(&thread, NULL, other_thread, (void *)(uintptr_t)far);
    pthread_join(thread, NULL);
    push("after");
    pop();
    return 0;
}
