/* The command line of `ctascope cc`: spellings of nvcc and of clang, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cc/cc.h"

enum { WORDS_MAX = 32 };

/* Splits at single blanks; the words live in `copy`. */
static int words_of(const char *line, char *copy, size_t copy_bytes, char **words)
{
    int count = 0;
    snprintf(copy, copy_bytes, "%s", line);
    for (char *at = copy; *at; count++) {
        assert_true(count < WORDS_MAX);
        words[count] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = '\0';
    }
    return count;
}

static enum cts_status parse(struct cc_request *request, const char *line, struct cts_error *error)
{
    static char copy[4096];
    static char *words[WORDS_MAX];
    return cc_request_parse(request, words_of(line, copy, sizeof copy, words), words, error);
}

static void assert_list(const struct cc_list *list, const char *expected)
{
    char joined[1024] = "";
    for (size_t i = 0; i < list->count; i++) {
        const size_t length = strlen(joined);
        snprintf(joined + length, sizeof joined - length, i ? " %s" : "%s", list->items[i]);
    }
    assert_string_equal(joined, expected);
}

static void test_include_paths_in_every_spelling(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(
        parse(&request, "-Ia -I b -I=c --include-path d --include-path=e k.cu", &error), CTS_OK);
    assert_list(&request.shared, "-I a -I b -I c -I d -I e");
    cc_request_release(&request);
}

static void test_macros_keep_their_equals_sign(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(parse(&request, "-DA -DB=1 -D C=2 --define-macro D=3 -UE k.cu", &error),
                     CTS_OK);
    assert_list(&request.shared, "-D A -D B=1 -D C=2 -D D=3 -U E");
    cc_request_release(&request);
}

static void test_nvcc_line_of_cmake(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(
        parse(&request,
              "-forward-unknown-to-host-compiler -O3 -DNDEBUG -std=c++17 "
              "--generate-code=arch=compute_90,code=[compute_90,sm_90] -Xcompiler=-fPIC,-Wall -MD "
              "-MT k.o -MF k.o.d -x cu -rdc=true -c k.cu -o k.o -march=native",
              &error),
        CTS_OK);
    assert_int_equal(request.stage, CC_OBJECT);
    assert_true(request.separate_units);
    assert_true(request.write_dependencies);
    assert_string_equal(request.dependency_file, "k.o.d");
    assert_list(&request.dependency_flags, "-MT k.o");
    assert_string_equal(request.optimisation, "-O3");
    assert_string_equal(request.output, "k.o");
    assert_list(&request.host, "-fPIC -Wall");
    assert_list(&request.machine, "-march=native");
    assert_list(&request.architectures, "sm_90");
    assert_int_equal(request.input_count, 1);
    assert_int_equal(request.inputs[0].language, CC_CUDA);
    cc_request_release(&request);
}

static void test_languages_by_suffix_and_by_x(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(parse(&request, "a.cu b.c c.cpp d.o e.a -x cu f.cpp -x none g.cpp", &error),
                     CTS_OK);
    const enum cc_language expected[] = {CC_CUDA,         CC_C,    CC_CXX, CC_LINKER_INPUT,
                                         CC_LINKER_INPUT, CC_CUDA, CC_CXX};
    assert_int_equal(request.input_count, 7);
    for (size_t i = 0; i < 7; i++) assert_int_equal(request.inputs[i].language, expected[i]);
    cc_request_release(&request);
}

static void test_link_keeps_the_order_and_drops_the_runtime(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(parse(&request,
                           "-L/x a.o -lfirst b.cu -lcudart --library second -Xlinker -rpath,/y "
                           "-Wl,-z,now -lineinfo",
                           &error),
                     CTS_OK);
    assert_list(&request.link, "-L /x a.o -lfirst b.cu -lsecond -Xlinker -rpath -Xlinker /y "
                               "-Wl,-z,now");
    cc_request_release(&request);
}

static void test_optimisation_levels(void **state)
{
    (void)state;
    static const char *const lines[][2] = {{"-O k.cu", "-O1"},
                                           {"-O2 k.cu", "-O2"},
                                           {"-O 3 k.cu", "-O3"},
                                           {"--optimize=1 k.cu", "-O1"},
                                           {"-Ofast k.cu", "-Ofast"}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cc_request request;
        struct cts_error error;
        assert_int_equal(parse(&request, lines[i][0], &error), CTS_OK);
        assert_string_equal(request.optimisation, lines[i][1]);
        assert_int_equal(request.input_count, 1);
        cc_request_release(&request);
    }
}

static void test_own_options(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(parse(&request,
                           "--device=cpu --kernels=add.* --sources k --locals --values "
                           "--host-accesses --no-instrument --keep d k.cu",
                           &error),
                     CTS_OK);
    assert_false(request.for_cuda);
    assert_string_equal(request.kernels, "add.*");
    assert_string_equal(request.sources, "k");
    assert_string_equal(request.keep, "d");
    assert_true(request.locals && request.values && request.host_accesses);
    assert_false(request.instrument);
    cc_request_release(&request);
}

static void test_kernel_names(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"--kernel-name add k.cu", "^((\\(anonymous namespace\\)|[^(<])*::)?add($|[(<])"},
        {"--kernel-name=ns::scale<2> k.cu",
         "^((\\(anonymous namespace\\)|[^(<])*::)?ns::scale<2>($|[(<])"},
        {"--kernel-name add(float*) k.cu",
         "^((\\(anonymous namespace\\)|[^(<])*::)?add\\(float\\*\\)($|[(<])"},
        {"--kernel-name regex:add|sub k.cu", "add|sub"},
        {"--kernels add|sub k.cu", "add|sub"}, /* former */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct cc_request request;
        struct cts_error error;
        assert_int_equal(parse(&request, pairs[i][0], &error), CTS_OK);
        assert_string_equal(request.kernels, pairs[i][1]);
        cc_request_release(&request);
    }
}

static void test_names_that_start_alike(void **state)
{
    (void)state;
    struct cc_request request;
    struct cts_error error;
    assert_int_equal(
        parse(&request,
              "-odir out -o name -time t.csv -t4 -lm -gencode arch=sm_80 -g -mavx2 -mllvm "
              "-unroll-count=4 k.cu",
              &error),
        CTS_OK);
    assert_string_equal(request.directory, "out");
    assert_string_equal(request.output, "name");
    assert_true(request.debug);
    assert_list(&request.link, "-lm k.cu");
    assert_list(&request.machine, "-mavx2");
    assert_list(&request.shared, "-mllvm -unroll-count=4");
    assert_int_equal(request.input_count, 1);
    cc_request_release(&request);
}

static void assert_refused(const char *line, const char *text)
{
    struct cc_request request;
    struct cts_error error = {0};
    assert_int_equal(parse(&request, line, &error), CTS_USAGE);
    assert_string_equal(error.text, text);
    cc_request_release(&request);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    assert_refused("--frobnicate k.cu", "unknown option '--frobnicate'");
    assert_refused("k.cu -o", "option '-o' needs a value");
    assert_refused("--device=cuda -ptx k.cu",
                   "option '-ptx' is for the CPU device (--device=cpu) only");
    assert_refused("-S k.cu", "option '-S' is not supported: ctascope cc makes machine code for "
                              "this host, in objects, libraries and programs");
    assert_refused("--device=abacus k.cu", "unknown --device value 'abacus' (one of: cpu, cuda)");
    assert_refused("-O2", "no input files");
    assert_refused("-c a.cu b.cu -o c.o",
                   "'-o c.o' names one file for 2 sources: compile them one at a time, "
                   "or link them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_include_paths_in_every_spelling),
        cmocka_unit_test(test_macros_keep_their_equals_sign),
        cmocka_unit_test(test_nvcc_line_of_cmake),
        cmocka_unit_test(test_languages_by_suffix_and_by_x),
        cmocka_unit_test(test_link_keeps_the_order_and_drops_the_runtime),
        cmocka_unit_test(test_optimisation_levels),
        cmocka_unit_test(test_own_options),
        cmocka_unit_test(test_kernel_names),
        cmocka_unit_test(test_names_that_start_alike),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
