/* What makes figures doubtful: each warning for its cause, and none without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench/warnings.h"
#include "results/results.h"

#define MIB ((uint64_t)1 << 20)

enum { N_SAMPLES = 5 };

/* A series of which nothing is to be said; nothing of it is to be freed but its warnings. */
struct quiet {
    struct sample samples[2][N_SAMPLES];
    struct method_result methods[2];
    struct series series;
    struct doubts doubts;
};

static void quiet_init(struct quiet *quiet)
{
    *quiet = (struct quiet){
        .series =
            {
                .system = {.memory_kb = 1 << 20, .governor = (char *)"performance"},
                .from = {.path = (char *)"from", .type = (char *)"xfs"},
                .to = {.path = (char *)"to", .type = (char *)"ext4", .has_journal = 1},
                .workload = (char *)"w",
                .bytes = MIB,
                .n_methods = 2,
            },
        .doubts = {.need_bytes = MIB, .free_bytes = 4 * MIB, .end = {.all_ticks = 1000}},
    };
    quiet->series.methods = quiet->methods;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < N_SAMPLES; k++)
            quiet->samples[i][k] = (struct sample){.real_ns = 1000 + k, .written_bytes = MIB};
        quiet->methods[i] = (struct method_result){.name = (char *)(i == 0 ? "a" : "b"),
            .verdict = VERDICT_RIGHT,
            .samples = quiet->samples[i],
            .n_samples = N_SAMPLES};
    }
}

static void assert_says(struct quiet *quiet, const char *expected)
{
    struct series *series = &quiet->series;

    assert_int_equal(doubts_to_warnings(&quiet->doubts, series), 0);
    assert_int_equal(series->n_warnings, expected ? 1 : 0);
    if (expected)
        assert_string_equal(series->warnings[0].text, expected);
    for (size_t i = 0; i < series->n_warnings; i++)
        free(series->warnings[i].text);
    free(series->warnings);
    series->warnings = NULL;
    series->n_warnings = 0;
}

static void test_nothing_to_say(void **state)
{
    struct quiet quiet;

    (void)state;
    quiet_init(&quiet);
    assert_says(&quiet, NULL);
    quiet.series.system.governor = (char *)""; /* not to be seen */
    quiet.series.to.has_journal = -1;
    assert_says(&quiet, NULL);
}

static void test_file_systems(void **state)
{
    struct quiet quiet;

    (void)state;
    quiet_init(&quiet);
    quiet.series.to.has_journal = 0;
    assert_says(&quiet,
        "'to' is on an ext4 without a journal: for minutes after many files were deleted there, "
        "creating files is slow");
    quiet.series.to.type = (char *)"tmpfs";
    assert_says(&quiet, "'to' is in memory (tmpfs): nothing is written to a disk");
    quiet.series.to.scratch_kb = 1;
    assert_says(&quiet,
        "the scratch file system in 'to' is in memory (tmpfs): nothing is written to a disk");

    quiet_init(&quiet);
    quiet.doubts.is_image_in_memory = true;
    assert_says(&quiet, "the image in 'to' is in memory: nothing is written to a disk");

    quiet_init(&quiet);
    quiet.series.from.type = (char *)"tmpfs";
    assert_says(&quiet, NULL);
    quiet.series.cold = true;
    assert_says(&quiet, "the source is in memory (tmpfs), where nothing is ever cold");

    quiet_init(&quiet);
    quiet.doubts.free_bytes = 2 * MIB;
    assert_says(&quiet, NULL);
    quiet.doubts.free_bytes = 2 * MIB - 2;
    assert_says(
        &quiet, "'to' has 1 MB free for copies of 1 MB: a file system that runs full gets slow");

    quiet_init(&quiet);
    quiet.doubts.initialises = true;
    assert_says(&quiet, "the kernel still prepares an ext4 in the background (ext4lazyinit)");
    quiet_init(&quiet);
    quiet.doubts.rearranges = true;
    assert_says(&quiet, "the btrfs is being balanced or changed in the background");
}

static void test_the_machine(void **state)
{
    struct quiet quiet;

    (void)state;
    quiet_init(&quiet);
    quiet.series.system.governor = (char *)"powersave";
    assert_says(
        &quiet, "the processors' frequency is governed by 'powersave', not by 'performance'");

    quiet_init(&quiet);
    quiet.doubts.load = (struct machine_load){.cpu_percent = 9.9, .io_percent = 9.9};
    assert_says(&quiet, NULL);
    quiet.doubts.load.cpu_percent = 12;
    assert_says(&quiet, "other programs kept the processors busy when the bench began (12%)");
    quiet.doubts.load = (struct machine_load){.io_percent = 33};
    assert_says(&quiet, "other programs kept the disks busy when the bench began (33%)");

    quiet_init(&quiet);
    quiet.doubts.dirty_kb = 64 * 1024 - 1;
    assert_says(&quiet, NULL);
    quiet.doubts.dirty_kb = 100 * 1024;
    assert_says(
        &quiet, "100 MB of others were still to be written when the runs of w to ext4 began");

    quiet_init(&quiet);
    quiet.series.system.memory_kb = 1024 + 1023;
    assert_says(&quiet, "w does not fit in memory twice: its warm figures are partly cold");
}

static void test_others_meanwhile(void **state)
{
    struct quiet quiet;
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

    (void)state;
    quiet_init(&quiet);
    quiet.doubts.end.user_ticks = 400;
    quiet.doubts.end.own_user_ns = 360 * tick_ns;
    assert_says(&quiet, NULL);
    quiet.doubts.end.own_user_ns = 300 * tick_ns;
    assert_says(&quiet, "other programs took 10% of the processors during the runs of w to ext4");
    quiet.doubts.end.all_ticks = 99; /* too short to tell */
    assert_says(&quiet, NULL);

    quiet_init(&quiet);
    quiet.doubts.end.stolen_ticks = 9;
    assert_says(&quiet, NULL);
    quiet.doubts.end.stolen_ticks = 20;
    assert_says(
        &quiet, "the host gave 2% of the processors' time to others during the runs of w to ext4");

    quiet_init(&quiet);
    quiet.doubts.begin.swapped_pages = 7;
    quiet.doubts.end.swapped_pages = 7;
    assert_says(&quiet, NULL);
    quiet.doubts.end.swapped_pages = 10;
    assert_says(
        &quiet, "memory was short: 3 pages went to or from swap during the runs of w to ext4");
}

static void test_samples(void **state)
{
    const uint64_t wide_ns[N_SAMPLES] = {1000, 500, 800, 1200, 2000};
    struct quiet quiet;

    (void)state;
    quiet_init(&quiet);
    quiet.methods[0].n_samples = quiet.methods[1].n_samples = 1;
    assert_says(&quiet, "the figures are of 1 run; fewer than 5 say little");
    quiet.methods[1].n_samples = 4;
    assert_says(&quiet, "the figures are of 4 runs; fewer than 5 say little");
    quiet.methods[0].n_samples = quiet.methods[1].n_samples = 0;
    assert_says(&quiet, NULL); /* that is told otherwise */

    quiet_init(&quiet);
    for (size_t i = 0; i < N_SAMPLES; i++)
        quiet.samples[1][i].real_ns = wide_ns[i];
    assert_says(&quiet, "the runs of b on w to ext4 spread too widely to rank: half of them are "
                        "20% or more from the "
                        "median");
    quiet.methods[1].verdict = VERDICT_WRONG; /* not ranked anyway */
    assert_says(&quiet, NULL);

    quiet_init(&quiet);
    quiet.doubts.cut_by = "why";
    assert_says(&quiet, "the runs of w to ext4 ended before --min-time was measured: why");
}

static void test_clones(void **state)
{
    struct quiet quiet;

    (void)state;
    quiet_init(&quiet);
    for (size_t i = 0; i < N_SAMPLES; i++)
        quiet.samples[0][i].written_bytes = 4096;
    assert_says(&quiet, "a to ext4 wrote less than half of what w holds: its copies share blocks "
                        "with the source, or have "
                        "holes, and others' do not");
    for (size_t i = 0; i < N_SAMPLES; i++) /* nobody's are counted */
        quiet.samples[1][i].written_bytes = 0;
    assert_says(&quiet, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_say),
        cmocka_unit_test(test_file_systems),
        cmocka_unit_test(test_the_machine),
        cmocka_unit_test(test_others_meanwhile),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_clones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
