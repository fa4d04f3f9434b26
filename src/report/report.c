#include "report/report.h"

#include <errno.h>

#include "base/cleanup.h"
#include "report/ranking.h"
#include "report/render.h"
#include "report/report_json.h"
#include "report/table.h"
#include "report/tables.h"

static const struct report_options *or_defaults(const struct report_options *options)
{
    static const struct report_options defaults = {0};
    return options ? options : &defaults;
}

/* Shows the tables, which it clears, unless there was a failure `r` before. */
static int render(FILE *out, struct tables *tables, const struct report_options *options, int r)
{
    if (r == 0)
        r = tables_error(tables);
    if (r == 0) {
        switch (options->format) {
        case REPORT_TEXT:
            r = render_text(out, tables, options->bars);
            break;
        case REPORT_MARKDOWN:
            r = render_markdown(out, tables);
            break;
        case REPORT_CSV:
            r = render_csv(out, tables);
            break;
        case REPORT_HTML:
            r = render_html(out, tables);
            break;
        case REPORT_JSON:
            r = render_json(out, tables);
            break;
        }
    }
    tables_clear(tables);
    return r;
}

static int make_measured(struct tables *tables, const struct series *const *series, size_t n_series,
    const char *baseline)
{
    int r = tables_make_title(tables, series, n_series);

    if (r == 0)
        r = tables_make_blocks(tables, series, n_series, baseline);
    if (r == 0)
        r = tables_make_drives(tables, series, n_series);
    if (r == 0 && n_series > 1)
        r = tables_make_summaries(tables, series, n_series);
    if (r == 0)
        r = tables_make_contrasts(tables, series, n_series);
    if (r == 0)
        r = tables_make_sizes(tables, series, n_series);
    return r < 0 ? r : tables_make_runs(tables, series, n_series);
}

int report_print(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options)
{
    struct tables tables = {0};
    const char *baseline = ranking_baseline(options);
    int r;

    options = or_defaults(options);
    if (options->format == REPORT_JSON)
        return report_print_json(out, series, n_series, baseline);
    if (options->format == REPORT_CSV)
        r = tables_make_all_figures(&tables, series, n_series, baseline);
    else
        r = make_measured(&tables, series, n_series, baseline);
    return render(out, &tables, options, r);
}

int report_print_reference(FILE *out, const struct report_options *options)
{
    struct tables tables = {0};

    options = or_defaults(options);
    if (options->format == REPORT_JSON)
        return report_print_reference_json(out);
    int r = tables_make_reference_machines(&tables);
    if (r == 0 && options->format != REPORT_CSV)
        r = tables_make_reference_summaries(&tables);
    return render(out, &tables, options, r);
}

int report_print_beside_reference(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options)
{
    struct tables tables = {0};

    tables_set_title(&tables, "Copying Many Small Files, Then and Now");
    int r = tables_make_beside_reference(&tables, series, n_series);
    return render(out, &tables, or_defaults(options), r);
}

int report_print_replayed(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options)
{
    struct tables tables = {0};

    options = or_defaults(options);
    tables_set_title(&tables, "Copying Many Small Files, Replayed");
    int r = tables_make_replayed_machines(&tables, series, n_series);
    if (r == 0 && options->format != REPORT_CSV)
        r = tables_make_replayed_summaries(&tables, series, n_series);
    return render(out, &tables, options, r);
}

int report_print_list(FILE *out, const struct series *const *series, size_t n_series,
    const struct report_options *options)
{
    struct tables tables = {0};

    tables_set_title(&tables, "Series of Measurements");
    int r = tables_make_list(&tables, series, n_series);
    return render(out, &tables, or_defaults(options), r);
}
