/* The comparison of two analyses against a twin that pairs findings one by one, on random lists;
 * and what counts as the same finding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/diff.h"
#include "random.h"

enum { SITES = 6, FINDINGS = 30 };

struct side {
    struct cts_catalogue catalogue;
    struct cts_kernel kernels[2];
    struct cts_site sites[SITES];
    struct cts_source sources[1];
    struct cts_launch launches[2];
    struct cts_access_result result;
    struct cts_access_site rows[SITES];
    struct cts_finding findings[FINDINGS];
    struct cts_diff_side diff;
};

/* Six sites on the lines of a source that may begin with empty ones. */
static struct side *make_side(const char *text, uint32_t first_line)
{
    struct side *const s = calloc(1, sizeof *s);
    s->kernels[0] = (struct cts_kernel){.name = "a"};
    s->kernels[1] = (struct cts_kernel){.kernel = 1, .name = "b"};
    s->sources[0] = (struct cts_source){.path = "/somewhere/x.cu", .text = text};
    for (uint32_t i = 0; i < SITES; i++) {
        s->sites[i] = (struct cts_site){.site = i,
                                        .operation = i % 2 ? CTS_LOAD : CTS_STORE,
                                        .width_bytes = 4,
                                        .line = first_line + i,
                                        .variable = i < 3 ? "v" : NULL};
        s->rows[i] = (struct cts_access_site){.kernel = i / 3,
                                              .site = i,
                                              .space = CTS_SPACE_GLOBAL,
                                              .counts = {.requests = 1, .sectors = 8 * (i + 1)}};
    }
    s->launches[1].kernel = 1;
    s->launches[1].launch = 1;
    s->catalogue = (struct cts_catalogue){.kernels = s->kernels,
                                          .kernel_count = 2,
                                          .sites = s->sites,
                                          .site_count = SITES,
                                          .sources = s->sources,
                                          .source_count = 1,
                                          .launches = s->launches,
                                          .launch_count = 2};
    s->result.sites = s->rows;
    s->result.site_count = SITES;
    s->result.findings = s->findings;
    s->diff = (struct cts_diff_side){&s->catalogue, &s->result};
    return s;
}

static void add(struct side *s, enum cts_finding_kind kind, size_t site, double amount)
{
    s->findings[s->result.finding_count++] = (struct cts_finding){
        .kind = kind, .site = site, .waste = amount, .fault = {.bytes = (uint64_t)amount}};
}

static struct cts_access_diff compare(const struct side *a, const struct side *b)
{
    struct cts_access_diff diff;
    struct cts_error error;
    assert_int_equal(cts_access_diff(&a->diff, &b->diff, &diff, &error), CTS_OK);
    return diff;
}

/* Findings of one kind and site are one each here; the lines of the second run are 7 further on. */
static void test_random_lists(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < 300; round++) {
        struct side *const a = make_side("l0\nl1\nl2\n l3\nl4\nl5\n", 1);
        struct side *const b = make_side("\n\n\n\n\n\n\nl0\nl1\nl2\n  l3\t\nl4\nl5\n", 8);
        double amounts[2][CTS_FINDING_KIND_COUNT][SITES] = {{{0}}};
        size_t expected[CTS_DIFF_CHANGE_COUNT] = {0};
        for (unsigned kind = 0; kind < CTS_FINDING_KIND_COUNT; kind += 3)
            for (size_t site = 0; site < SITES; site++)
                for (unsigned k = 0; k < 2; k++)
                    if (below(2)) {
                        amounts[k][kind][site] = 1000.0 + (double)(5 * below(5));
                        add(k ? b : a, (enum cts_finding_kind)kind, site, amounts[k][kind][site]);
                    }
        for (unsigned kind = 0; kind < CTS_FINDING_KIND_COUNT; kind++)
            for (size_t site = 0; site < SITES; site++) {
                const double x = amounts[0][kind][site], y = amounts[1][kind][site];
                if (x || y)
                    expected[!x                               ? CTS_DIFF_NEW
                             : !y                             ? CTS_DIFF_GONE
                             : fabs(x - y) > fmax(x, y) / 100 ? CTS_DIFF_CHANGED
                                                              : CTS_DIFF_SAME]++;
            }
        struct cts_access_diff diff = compare(a, b);
        assert_memory_equal(diff.counts, expected, sizeof expected);
        bool only_same = false;
        for (size_t i = 0; i < diff.finding_count; i++) {
            const struct cts_diff_finding *const f = &diff.findings[i];
            const struct cts_finding *const any = f->after ? f->after : f->before;
            assert_true(f->before_amount == amounts[0][any->kind][any->site]);
            assert_true(f->after_amount == amounts[1][any->kind][any->site]);
            assert_true(!only_same || f->change == CTS_DIFF_SAME); /* the same come last */
            only_same = f->change == CTS_DIFF_SAME;
        }
        cts_access_diff_release(&diff);
        free(a);
        free(b);
    }
}

/* Two findings of one key are paired by amount; another line is another finding; a text that is not
 * known leaves the number of the line. */
static void test_same_finding(void **unused)
{
    (void)unused;
    struct side *const a = make_side("x\nx\ny\n", 1), *const b = make_side("x\nx\nz\n", 1);
    add(a, CTS_FINDING_STRIDED, 0, 10); /* sites 0 and 2 are stores of v in a, of lines x and y */
    add(a, CTS_FINDING_STRIDED, 0, 20);
    add(b, CTS_FINDING_STRIDED, 0, 20);
    add(b, CTS_FINDING_STRIDED, 2, 10);
    struct cts_access_diff diff = compare(a, b);
    assert_int_equal(diff.counts[CTS_DIFF_SAME], 1);
    assert_int_equal(diff.counts[CTS_DIFF_NEW], 1);
    assert_int_equal(diff.counts[CTS_DIFF_GONE], 1);
    cts_access_diff_release(&diff);
    a->sources[0].text = b->sources[0].text = NULL;
    a->result.finding_count = b->result.finding_count = 0;
    add(a, CTS_FINDING_STRIDED, 2, 10);
    add(b, CTS_FINDING_STRIDED, 2, 10);
    diff = compare(a, b);
    assert_int_equal(diff.counts[CTS_DIFF_SAME], 1);
    cts_access_diff_release(&diff);
    b->sites[2].line++;
    diff = compare(a, b);
    assert_int_equal(diff.counts[CTS_DIFF_SAME], 0);
    cts_access_diff_release(&diff);
    free(a);
    free(b);
}

static void test_kernels(void **unused)
{
    (void)unused;
    struct side *const a = make_side("", 1), *const b = make_side("", 1);
    b->rows[0].counts.sectors += 24; /* of kernel a: 8 + 16 + 24 = 48 sectors before */
    b->kernels[1].name = "c";
    struct cts_access_diff diff = compare(a, b);
    assert_int_equal(diff.kernel_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct cts_diff_kernel *const k = &diff.kernels[i];
        assert_int_equal(k->is_before, strcmp(k->name, "c") != 0);
        assert_int_equal(k->is_after, strcmp(k->name, "b") != 0);
        if (strcmp(k->name, "a")) continue;
        assert_int_equal(k->before.sectors, 48);
        assert_int_equal(k->after.sectors, 72);
        assert_int_equal(k->before_launches, 1);
        assert_true(cts_diff_growth(&diff, k) == 0.5);
    }
    assert_int_equal(diff.before.sectors, 168);
    assert_int_equal(diff.after.sectors, 192);
    cts_access_diff_release(&diff);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_lists),
                                       cmocka_unit_test(test_same_finding),
                                       cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
