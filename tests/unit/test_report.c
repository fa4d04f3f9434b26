#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/reference.h"
#include "model/reference_data.h"
#include "report/html.h"
#include "report/ranking.h"
#include "report/render.h"
#include "report/report.h"
#include "report/scale.h"
#include "report/table.h"
#include "report/text.h"
#include "results/results.h"

/* --- Figures --- */

static void assert_duration(uint64_t ns, const char *expected)
{
    char buffer[FIGURE_SIZE];
    assert_string_equal(format_duration(buffer, ns), expected);
}

static void test_durations(void **state)
{
    (void)state;
    assert_duration(0, "0:00.000");
    assert_duration(412345678, "0:00.412");
    assert_duration(499999, "0:00.000");
    assert_duration(500000, "0:00.001");
    assert_duration(999499999, "0:00.999");
    assert_duration(999500000, "0:01.00"); /* rounding carries into the next form */
    assert_duration(4314999999, "0:04.31");
    assert_duration(9994999999, "0:09.99");
    assert_duration(9995000000, "0:10");
    assert_duration(59499999999, "0:59");
    assert_duration(59500000000, "1:00");
    assert_duration(78 * NS_PER_SECOND, "1:18");
    assert_duration(302 * NS_PER_SECOND, "5:02");
    assert_duration(75 * 60 * NS_PER_SECOND, "75:00");
    assert_duration(UINT64_MAX, "307445734:34");
}

static void test_numbers(void **state)
{
    char buffer[FIGURE_SIZE];

    (void)state;
    assert_string_equal(format_count(buffer, 0), "0");
    assert_string_equal(format_count(buffer, 999), "999");
    assert_string_equal(format_count(buffer, 2200), "2,200");
    assert_string_equal(format_count(buffer, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(format_whole(buffer, 529.5), "530");
    assert_string_equal(format_ratio(buffer, 1), "1.00");
    assert_string_equal(format_ratio(buffer, 9.996), "10.0");
    assert_string_equal(format_ratio(buffer, 99.96), "100");
    assert_int_equal(bytes_to_kb(1535), 1);
    assert_int_equal(bytes_to_kb(1536), 2);
    assert_true(rate_kb_per_second(2048, NS_PER_SECOND / 2) == 4);
    assert_true(rate_kb_per_second(2048, 0) == 0);
}

/* --- Tables --- */

static const struct table_column two_columns[] = {
    {{"", "Name"}, TABLE_LEFT},
    {{"Data", "Rate"}, TABLE_RIGHT},
};

/* What a table of these rows looks like; free it. */
static char *print_rows(size_t width, size_t n, const char *const rows[][2])
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct tables tables = {0};
    struct table *table = tables_add(&tables, two_columns, ELEMENTS(two_columns));

    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        if (rows[i][0])
            table_add_row(
                table, (const struct table_cell[]){CELL_TEXT(rows[i][0]), CELL_TEXT(rows[i][1])});
        else
            table_add_gap(table);
    }
    assert_int_equal(tables_error(&tables), 0);
    assert_int_equal(render_text_table(out, table, width, BARS_NONE), 0);
    tables_clear(&tables);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_table(size_t width, size_t n, const char *const rows[][2], const char *expected)
{
    _cleanup_free_ char *text = print_rows(width, n, rows);
    assert_string_equal(text, expected);
}

static void test_table_layout(void **state)
{
    static const char *const rows[][2] = {
        {NULL}, {"a", "1"}, {NULL}, {NULL}, {"long", "12345"}, {"blank", ""}};

    (void)state;
    assert_table(80, ELEMENTS(rows), rows,
        "        Data\n"
        "Name    Rate\n"
        "\n"
        "a          1\n"
        "\n"
        "long   12345\n"
        "blank\n");
    assert_table(80, 0, rows, "      Data\nName  Rate\n\n");
}

static void test_table_is_cut_to_its_width(void **state)
{
    static const char *const rows[][2] = {{"abcdefghijkl", "1234"}};

    (void)state;
    assert_table(18, 1, rows, "              Data\nName          Rate\n\nabcdefghijkl  1234\n");
    assert_table(17, 1, rows, "             Data\nName         Rate\n\nabcdefghijkl 1234\n");
    assert_table(16, 1, rows, "            Data\nName        Rate\n\nabcdefgh... 1234\n");
}

static void test_table_shows_any_bytes(void **state)
{
    static const char *const rows[][2] = {{"a\033[1m\n", "1"}, {"\xff\xc3", "2"}, {"\xc2\x9b", "3"},
        {"na\xc3\xafve", "4"}, {"\xe6\xbc\xa2\xe5\xad\x97", "5"}};

    (void)state;
    assert_table(80, ELEMENTS(rows), rows,
        "        Data\n"
        "Name    Rate\n"
        "\n"
        "a?[1m?     1\n"
        "??         2\n"
        "?          3\n"
        "na\xc3\xafve      4\n"
        "\xe6\xbc\xa2\xe5\xad\x97       5\n");
}

static void assert_wrapped(const char *text, const char *expected)
{
    char *wrapped = NULL;
    size_t size;
    FILE *out = open_memstream(&wrapped, &size);

    assert_non_null(out);
    assert_int_equal(text_print_wrapped(out, 2, 4, text), 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(wrapped, expected);
    free(wrapped);
}

#define TEN      "0123456789"
#define SEVENTY6 TEN TEN TEN TEN TEN TEN TEN "012345"

static void test_wrapping(void **state)
{
    (void)state;
    assert_wrapped("", "\n");
    assert_wrapped("a b", "  a b\n");
    assert_wrapped(SEVENTY6 " b", "  " SEVENTY6 " b\n");
    assert_wrapped(SEVENTY6 "6 b ", "  " SEVENTY6 "6\n    b\n");
    assert_wrapped("a " SEVENTY6 "x", "  a\n    " SEVENTY6 "\n    x\n");
}

static void test_bars_share_what_a_table_leaves(void **state)
{
    static const struct table_cell rows[][2] = {
        {{"a", NAN}, {"40", 40}}, {{"b", NAN}, {"25", 25}}, {{"c", NAN}, {"0", 0}}};
    struct tables tables = {0};
    struct table *table = tables_add(&tables, two_columns, ELEMENTS(two_columns));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    assert_non_null(table);
    table->drawing = DRAW_BARS;
    for (size_t i = 0; i < ELEMENTS(rows); i++) {
        table_add_row(table, rows[i]);
        table_set_mark(table, &(const struct table_mark){.value = rows[i][1].value, .high = 100});
    }
    assert_int_equal(render_text_table(out, table, 20, BARS_ASCII), 0);
    assert_int_equal(render_text_table(out, table, 20, BARS_BLOCKS), 0);
    assert_int_equal(render_text_table(out, table, 17, BARS_ASCII), 0); /* no room */
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text,
        "      Data\nName  Rate\n\na       40  ########\nb       25  #####\nc        0\n"
        "      Data\nName  Rate\n\na       40  \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\n"
        "b       25  \u2588\u2588\u2588\u2588\u2588\nc        0\n"
        "      Data\nName  Rate\n\na       40\nb       25\nc        0\n");
    free(text);
    tables_clear(&tables);
}

/* --- Axes --- */

static void assert_ticks(const struct scale *scale, size_t n, const double *expected)
{
    assert_int_equal(scale->n_ticks, n);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(scale->ticks[i] - expected[i]) < 1e-9 * expected[n - 1]);
}

static void test_scales(void **state)
{
    (void)state;
    struct scale scale = scale_from_zero(UNIT_KB_PER_SECOND, 978);
    assert_ticks(&scale, 5, (const double[]){0, 200, 400, 600, 800});
    assert_true(scale_percent(&scale, 0) == 0);
    assert_true(scale_percent(&scale, 978) > 90 && scale_percent(&scale, 978) < 100);
    scale = scale_of_decades(UNIT_KB_PER_SECOND, 233, 1e6);
    assert_ticks(&scale, 4, (const double[]){1e3, 1e4, 1e5, 1e6});
    scale = scale_of_decades(UNIT_KB_PER_SECOND, 9, 90);
    assert_ticks(&scale, 4, (const double[]){10, 20, 50, 100});
    scale = scale_around(UNIT_TIME_NS, 100, 100);
    assert_false(scale.is_logarithmic);
    assert_true(scale.n_ticks >= 2 && scale.low < 100 && scale.high > 100);
    scale = scale_around(UNIT_TIME_NS, 1, 100);
    assert_true(scale.is_logarithmic);
    assert_true(fabs(scale_percent(&scale, 10) - 50) < 1e-9);
    /* All that a results file may hold. */
    scale = scale_around(UNIT_TIME_NS, 9223372036854770000.0, 9223372036854774784.0);
    assert_true(scale.n_ticks <= TICKS_MOST);
    assert_true(scale_percent(&scale, 0) == 0 && scale_percent(&scale, 1e300) == 100);
    scale = scale_from_zero(UNIT_KB_PER_SECOND, 1e300);
    assert_true(scale.n_ticks > 2);
    scale = scale_of_decades(UNIT_KB_PER_SECOND, 1e-12, 1e25);
    assert_int_equal(scale.n_ticks, TICKS_MOST);
}

static void test_html_text_is_no_markup(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    html_print_text(out, "<a b=\"c\" d='e'>&amp;");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;amp;");
    free(text);
}

/* --- The published figures --- */

static char *text_of(int (*print)(FILE *, const struct report_options *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(print(out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Each must come after the one before. */
static void assert_in_order(const char *text, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *found = strstr(text, parts[i]);
        if (!found)
            fail_msg("'%s' is not there, or too early", parts[i]);
        text = found + strlen(parts[i]);
    }
}

static void test_reference_tables(void **state)
{
    static const char *const parts[] = {"Results for Origin200 R10000SC 180MHz (1MB L2):\n",
        "\n  2X\n 32X      1:18     978\n", "Table 41\n",
        "Results for O2 R5000SC 200MHz (the 12X is the O2's internal CDROM):\n",
        "  2X      4:46     267\n 12X      2:24     530\n 32X      1:48     706\n", "Table 27\n",
        "Results for Indigo2 250MHz R4400SC:\n", "  2X      4:50     263\n 32X      1:48     706\n",
        "Table 28\n", "Results for Indy 200MHz R4400SC:\n",
        "  2X      5:02     253\n 32X      2:03     620\n", "Table 29\n",
        "Results for Indy 133MHz R4600PC:\n", "  2X      5:22     237\n 32X      3:24     374\n",
        "Table 30\n", "Results for Indy 100MHz R4600PC:\n",
        "  2X      5:27     233\n 32X      3:26     370\n", "Table 31\n",
        "O2 R5000SC 200MHz 1MB:   4:46     267\n", "Indigo2 250MHz R4400SC:  4:50     263\n",
        "Indy 200MHz R4400SC:     5:02     253\n", "Indy 133MHz R4600PC:     5:22     237\n",
        "Indy 100MHz R4600PC:     5:27     233\n", "Table 32: 2X CDROM Performance\n",
        "O2 R5000SC 200MHz 1MB:   1:48     706\n", "Indigo2 250MHz R4400SC:  1:48     706\n",
        "Indy 200MHz R4400SC:     2:03     620\n", "Indy 133MHz R4600PC:     3:24     374\n",
        "Indy 100MHz R4600PC:     3:26     370\n", "Table 33: 32X CDROM Performance\n"};
    _cleanup_free_ char *text = text_of(report_print_reference);

    (void)state;
    assert_in_order(text, parts, ELEMENTS(parts));
}

static void test_reference_rates_are_those_of_the_times(void **state)
{
    struct reference *reference;
    char *why, rate[FIGURE_SIZE], published[FIGURE_SIZE];
    size_t n = 0;

    (void)state;
    assert_int_equal(reference_load(&reference, &why), 0);
    for (size_t i = 0; i < reference->n_machines; i++) {
        for (size_t k = 0; k < reference->machines[i].n_cells; k++) {
            const struct reference_cell *cell = &reference->machines[i].cells[k];
            n++;
            if (!cell->has_figures)
                continue;
            (void)format_whole(
                rate, rate_kb_per_second(reference->kb * 1024, cell->seconds * NS_PER_SECOND));
            assert_string_equal(rate, format_whole(published, cell->rate_kb_s));
        }
    }
    assert_int_equal(n, 13);
    /* The head of a column of --beside-reference. */
    assert_string_equal(reference->yardstick_name, "Origin200");
    reference_free(reference);
}

/* The program's data with the first `from` in it changed to `to` must be refused with a word on it.
 */
static void assert_refused(const char *from, const char *to, const char *about)
{
    size_t length;
    const char *data = reference_data(&length);
    _cleanup_free_ char *text = NULL, *why = NULL;
    struct reference *reference = NULL;

    const char *at = memmem(data, length, from, strlen(from));
    assert_non_null(at);
    int head = (int)(at - data), tail = (int)(length - (size_t)head - strlen(from));
    int n = asprintf(&text, "%.*s%s%.*s", head, data, to, tail, at + strlen(from));
    assert_true(n > 0);
    assert_int_equal(reference_parse(text, (size_t)n, &reference, &why), -EBADMSG);
    assert_null(reference);
    assert_non_null(why);
    if (!strstr(why, about))
        fail_msg("'%s' does not speak of '%s'", why, about);
}

static void test_bad_reference_is_refused(void **state)
{
    (void)state;
    assert_refused("{", "", "line");
    assert_refused("shoal-reference", "other", "schema 'other'");
    assert_refused("\"version\": 1", "\"version\": 2", "version 2");
    assert_refused("\"kb\": 76289", "\"kb\": 0", "workload");
    assert_refused("\"kb\": 76289", "\"kb\": \"x\"", "reference");
    assert_refused("\"machines\"", "\"machine\"", "machines");
    assert_refused("\"seconds\": 286", "\"seconds\": -1", "O2 R5000SC 200MHz, 2X");
    assert_refused("\"seconds\": 286", "\"seconds\": 2.5", "O2 R5000SC 200MHz, 2X");
    assert_refused("\"seconds\": 286", "\"seconds\": null", "half blank");
    assert_refused("\"seconds\": 286", "\"seconds\": 186", "rate");
    assert_refused("\"drive\": \"12X\"", "\"drive\": \"2X\"", "two cells");
    assert_refused("\"drive\": \"12X\"", "\"drive\": \"X12\"", "not a drive");
    assert_refused("\"table\": 27", "\"table\": 0", "O2 R5000SC 200MHz");
    assert_refused(
        "\"seconds\": 78, \"rate\": 978", "\"seconds\": null, \"rate\": null", "yardstick");
    assert_refused(
        "\"yardstick\": {\"machine\": \"Or", "\"yardstick\": {\"machine\": \"Pr", "yardstick");
    assert_refused("\"table\": 33,", "\"table\": 33, \"table\": 34,", "line");
}

/* --- Rankings --- */

#define SECONDS(n) ((n)*NS_PER_SECOND)

static struct sample *samples_of(size_t n, const uint64_t *real_ns)
{
    struct sample *samples = calloc(n, sizeof(*samples));
    assert_non_null(samples);
    for (size_t i = 0; i < n; i++)
        samples[i] = (struct sample){.block = (unsigned)i, .real_ns = real_ns[i]};
    return samples;
}

/* A method with samples of these times; the names are only borrowed. */
#define METHOD(title, is, ...)                                                                     \
    {                                                                                              \
        .name = (char *)(title), .verdict = (is), .why = (char *)"",                               \
        .n_samples = ELEMENTS(((uint64_t[]){__VA_ARGS__})),                                        \
        .samples =                                                                                 \
            samples_of(ELEMENTS(((uint64_t[]){__VA_ARGS__})), (const uint64_t[]){__VA_ARGS__}),    \
    }

static void free_samples(struct method_result *methods, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(methods[i].samples);
}

static void test_ranking(void **state)
{
    struct method_result methods[] = {
        METHOD("slow", VERDICT_RIGHT, SECONDS(4), SECONDS(9), SECONDS(4)),
        METHOD("wrong", VERDICT_WRONG, SECONDS(1)),
        METHOD("shoal", VERDICT_RIGHT, SECONDS(2), SECONDS(3), SECONDS(1)),
        METHOD("exits", VERDICT_RIGHT, SECONDS(1), SECONDS(1)),
        METHOD("fast", VERDICT_UNCHECKED, SECONDS(1)),
        METHOD("equal", VERDICT_RIGHT, SECONDS(4)),
    };
    const struct series series = {
        .files = 10, .bytes = 8192, .methods = methods, .n_methods = ELEMENTS(methods)};
    static const char *const order[] = {"fast", "shoal", "slow", "equal", "wrong", "exits"};
    struct ranking ranking;
    char reason[REASON_SIZE];

    (void)state;
    methods[3].samples[1].exit_status = 7;
    assert_int_equal(ranking_make(&series, "shoal", &ranking), 0);
    assert_int_equal(ranking.n_standings, ELEMENTS(order));
    assert_int_equal(ranking.n_ranked, 4);
    for (size_t i = 0; i < ELEMENTS(order); i++)
        assert_string_equal(ranking.standings[i].method->name, order[i]);
    assert_string_equal(ranking.baseline->method->name, "shoal");
    assert_true(ranking.standings[1].real_ns == SECONDS(2));
    assert_true(ranking.standings[1].rate_kb_s == 4 && ranking.standings[1].files_s == 5);
    /* Pair by pair 2, 3 and 4; the medians' ratio would be 2. */
    assert_true(ranking.standings[2].as_long.median == 3);
    assert_int_equal(ranking.standings[2].as_long.n, 3);
    assert_false(ranking.standings[2].as_long.has_interval);
    /* Of three blocks nothing is concluded. */
    assert_int_equal(ranking.standings[2].rank, 1);
    assert_true(ranking.standings[2].is_rank_shared);
    assert_int_equal(ranking.n_ties, 6);
    assert_string_equal(
        standing_describe_reason(reason, &ranking.standings[5]), "a run exited with 7");
    ranking_clear(&ranking);
    assert_int_equal(ranking_make(&series, "exits", &ranking), 0);
    assert_string_equal(ranking.baseline->method->name, "fast");
    ranking_clear(&ranking);
    free_samples(methods, ELEMENTS(methods));
}

/* Ranks the methods; asserts the ranks, fastest first, as "1= a, 1= b, 3 c", and the ties. */
static void assert_ranks(
    struct method_result *methods, size_t n, const char *ranks, const char *ties)
{
    const struct series series = {.methods = methods, .n_methods = n};
    struct ranking ranking;
    char text[256] = "";
    size_t length = 0;

    assert_int_equal(ranking_make(&series, "shoal", &ranking), 0);
    for (size_t i = 0; i < ranking.n_ranked; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%zu%s %s",
            i ? ", " : "", ranking.standings[i].rank,
            ranking.standings[i].is_rank_shared ? "=" : "", ranking.standings[i].method->name);
    assert_string_equal(text, ranks);
    text[length = 0] = '\0';
    for (size_t i = 0; i < ranking.n_ties; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s-%s", i ? ", " : "",
            ranking.standings[ranking.ties[i].faster].method->name,
            ranking.standings[ranking.ties[i].slower].method->name);
    assert_string_equal(text, ties);
    ranking_clear(&ranking);
    free_samples(methods, n);
}

static void test_ranks_are_apart_only_where_intervals_are(void **state)
{
    struct method_result methods[] = {
        METHOD("slow", VERDICT_RIGHT, 300, 310, 290, 300, 305, 320),
        METHOD("b", VERDICT_RIGHT, 101, 103, 99, 104, 98, 102),
        METHOD("a", VERDICT_RIGHT, 100, 102, 101, 99, 100, 101),
    };

    (void)state;
    assert_ranks(methods, ELEMENTS(methods), "1= a, 1= b, 3 slow", "a-b");
}

/* One whose times vary is told from nobody; what is shown of the others stays. */
static void test_ranks_with_one_that_varies(void **state)
{
    struct method_result methods[] = {
        METHOD("a", VERDICT_RIGHT, 100, 101, 99, 100, 101, 99),
        METHOD("varies", VERDICT_RIGHT, 90, 400, 95, 300, 90, 500),
        METHOD("b", VERDICT_RIGHT, 150, 151, 149, 150, 151, 149),
        METHOD("c", VERDICT_RIGHT, 250, 251, 249, 250, 251, 249),
    };

    (void)state;
    assert_ranks(
        methods, ELEMENTS(methods), "1= a, 2 b, 1= varies, 3 c", "a-varies, b-varies, varies-c");
}

/* Where a is ahead of b and b of c, so is a of c, though the two were never in the same blocks. */
static void test_ranks_reach_through_a_method_between(void **state)
{
    struct method_result methods[] = {
        METHOD("a", VERDICT_RIGHT, 100, 101, 99, 100, 101, 99),
        METHOD("b", VERDICT_RIGHT, 150, 151, 149, 150, 151, 149, 150, 151, 149, 150, 151, 149),
        METHOD("c", VERDICT_RIGHT, 200, 201, 199, 200, 201, 199),
    };

    (void)state;
    for (size_t i = 0; i < 6; i++)
        methods[2].samples[i].block += 6;
    assert_ranks(methods, ELEMENTS(methods), "1 a, 2 b, 3 c", "");
}

static void test_five_runs_decide_if_all_are_apart(void **state)
{
    struct method_result apart[] = {
        METHOD("a", VERDICT_RIGHT, 100, 109, 99, 100, 101),
        METHOD("b", VERDICT_RIGHT, 110, 120, 115, 116, 113),
    };
    struct method_result mixed[] = {
        METHOD("a", VERDICT_RIGHT, 100, 112, 99, 100, 101),
        METHOD("b", VERDICT_RIGHT, 110, 120, 115, 116, 113),
    };
    struct method_result four[] = {
        METHOD("a", VERDICT_RIGHT, 100, 100, 100, 100),
        METHOD("b", VERDICT_RIGHT, 900, 900, 900, 900),
    };

    (void)state;
    assert_ranks(apart, 2, "1 a, 2 b", "");
    assert_ranks(mixed, 2, "1= a, 1= b", "a-b");
    assert_ranks(four, 2, "1= a, 1= b", "a-b");
}

static void test_ranking_of_nothing(void **state)
{
    const struct series series = {0};
    struct ranking ranking;

    (void)state;
    assert_int_equal(ranking_make(&series, "shoal", &ranking), 0);
    assert_int_equal(ranking.n_standings, 0);
    assert_null(ranking.baseline);
    ranking_clear(&ranking);
}

static void test_ratio_without_shared_blocks(void **state)
{
    struct method_result methods[] = {
        METHOD("shoal", VERDICT_RIGHT, SECONDS(2)),
        METHOD("other", VERDICT_RIGHT, SECONDS(3)),
    };
    const struct series series = {.methods = methods, .n_methods = ELEMENTS(methods)};
    struct ranking ranking;

    (void)state;
    methods[1].samples[0].block = 5;
    assert_int_equal(ranking_make(&series, "shoal", &ranking), 0);
    assert_true(ranking.standings[1].as_long.median == 1.5);
    assert_int_equal(ranking.standings[1].as_long.n, 0);
    ranking_clear(&ranking);
    free_samples(methods, ELEMENTS(methods));
}

static void test_beside_reference_needs_as_much_data(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const struct series series = {.files = 2199, .bytes = 76289ULL * 1024};

    (void)state;
    assert_non_null(out);
    assert_int_equal(
        report_print_beside_reference(out, (const struct series *const[]){&series}, 1, NULL),
        -ENODATA);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_table_layout),
        cmocka_unit_test(test_table_is_cut_to_its_width),
        cmocka_unit_test(test_table_shows_any_bytes),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_bars_share_what_a_table_leaves),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_html_text_is_no_markup),
        cmocka_unit_test(test_reference_tables),
        cmocka_unit_test(test_reference_rates_are_those_of_the_times),
        cmocka_unit_test(test_bad_reference_is_refused),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_ranks_are_apart_only_where_intervals_are),
        cmocka_unit_test(test_ranks_with_one_that_varies),
        cmocka_unit_test(test_ranks_reach_through_a_method_between),
        cmocka_unit_test(test_five_runs_decide_if_all_are_apart),
        cmocka_unit_test(test_ranking_of_nothing),
        cmocka_unit_test(test_ratio_without_shared_blocks),
        cmocka_unit_test(test_beside_reference_needs_as_much_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
