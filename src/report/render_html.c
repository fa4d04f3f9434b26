#include "report/render.h"

#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/stylesheet.h"
#include "report/table.h"

void html_print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("&<>\"'", *text))
            (void)fprintf(out, "&#%d;", *text);
        else
            (void)fputc(*text, out);
    }
}

void html_print_head(FILE *out, const struct table_column *column)
{
    const char *first = column->heads[0], *second = column->heads[1];
    bool is_apart = *first && *second && *second != '/' && first[strlen(first) - 1] != '/';

    html_print_text(out, first);
    if (is_apart)
        (void)fputc(' ', out);
    html_print_text(out, second);
}

void html_print_label(FILE *out, const struct table *table, const struct table_row *row)
{
    size_t first, end = table_label_columns(table, &first);

    for (size_t i = first; i < end; i++) {
        if (i > first)
            (void)fputs(", ", out);
        html_print_text(out, row->cells[i].text);
    }
}

static void print_texts(FILE *out, const char *element, const struct text_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        (void)fprintf(out, "<%s>", element);
        html_print_text(out, list->all[i]);
        (void)fprintf(out, "</%s>\n", element);
    }
}

static void print_caption(FILE *out, const struct table *table)
{
    if (table->number > 0)
        (void)fprintf(out, "<caption>Table %u</caption>\n", table->number);
    else if (table->title) {
        (void)fputs("<caption class=\"hidden\">", out);
        html_print_text(out, table->title);
        (void)fputs("</caption>\n", out);
    }
}

/* Figures stand at the right, and so does what begins with one. */
static const char *cell_class(const struct table *table, size_t column)
{
    size_t first, end = table_label_columns(table, &first);

    if (table->columns[column].align == TABLE_RIGHT)
        return " class=\"figure\"";
    return column >= end ? " class=\"interval\"" : "";
}

static void print_column_heads(FILE *out, const struct table *table)
{
    (void)fputs("<thead><tr>", out);
    for (size_t i = 0; i < table->n_columns; i++) {
        (void)fprintf(out, "<th scope=\"col\"%s>", cell_class(table, i));
        html_print_head(out, &table->columns[i]);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead>\n", out);
}

static void print_row(FILE *out, const struct table *table, const struct table_row *row)
{
    size_t head;

    (void)table_label_columns(table, &head);
    (void)fprintf(out, "<tr%s>", row->mark.is_own ? " class=\"own\"" : "");
    for (size_t i = 0; i < table->n_columns; i++) {
        (void)fprintf(out, i == head ? "<th scope=\"row\"%s>" : "<td%s>", cell_class(table, i));
        html_print_text(out, row->cells[i].text);
        (void)fputs(i == head ? "</th>" : "</td>", out);
    }
    (void)fputs("</tr>\n", out);
}

static void print_rows(struct page *page, const struct table *table)
{
    FILE *out = page->out;
    bool is_behind = table->is_background;

    if (is_behind)
        (void)fputs("<details><summary>All figures</summary>\n", out);
    (void)fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table: ", out);
    html_print_text(out, table->title ? table->title : "figures");
    (void)fputs("\">\n<table>\n", out);
    print_caption(out, table);
    print_column_heads(out, table);
    (void)fputs("<tbody>\n", out);
    for (size_t i = 0; i < table->n_rows; i++) {
        if (table->rows[i].cells)
            print_row(out, table, &table->rows[i]);
        else
            (void)fputs("</tbody>\n<tbody>\n", out);
    }
    (void)fprintf(out, "</tbody>\n</table>\n</div>\n%s", is_behind ? "</details>\n" : "");
}

static int print_section(struct page *page, const struct table *table, size_t number)
{
    FILE *out = page->out;
    int r = 0;

    if (table->title) {
        (void)fprintf(out, "<section id=\"t%zu\" aria-labelledby=\"h%zu\">\n<h2 id=\"h%zu\">",
            number, number, number);
        html_print_text(out, table->title);
        (void)fputs("</h2>\n", out);
    } else {
        (void)fprintf(out, "<section id=\"t%zu\">\n", number);
    }
    print_texts(out, "p", &table->details);
    if (table->n_rows > 0) {
        r = html_print_chart(page, table);
        print_rows(page, table);
    }
    if (table->notes.n > 0) {
        (void)fputs("<ul class=\"notes\">\n", out);
        print_texts(out, "li", &table->notes);
        (void)fputs("</ul>\n", out);
    }
    (void)fputs("</section>\n", out);
    return r;
}

static void print_contents(FILE *out, const struct tables *tables)
{
    if (tables->n < 2)
        return;
    (void)fputs("<nav aria-label=\"Tables\">\n<ol>\n", out);
    for (size_t i = 0; i < tables->n; i++) {
        const struct table *table = tables->all[i];
        (void)fprintf(out, "<li><a href=\"#t%zu\">", i + 1);
        html_print_text(out, table->title ? table->title : "Table");
        (void)fputs("</a>", out);
        if (table->details.n > 0) {
            (void)fputs(" <span>", out);
            html_print_text(out, table->details.all[0]);
            (void)fputs("</span>", out);
        }
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ol>\n</nav>\n", out);
}

/* The policy keeps a browser from asking anybody for anything, whatever a name holds. */
static void print_begin(FILE *out, const struct tables *tables)
{
    size_t length;
    const char *css = stylesheet(&length);
    const char *title = tables->title ? tables->title : "Report";

    (void)fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" "
                "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
        out);
    html_print_text(out, title);
    (void)fputs("</title>\n<style>\n", out);
    (void)fwrite(css, 1, length, out);
    (void)fputs("</style>\n</head>\n<body>\n"
                "<a class=\"skip\" href=\"#main\">Skip to the tables</a>\n<header>\n<h1>",
        out);
    html_print_text(out, title);
    (void)fputs("</h1>\n", out);
    print_texts(out, "p", &tables->intro);
    if (tables->command) {
        (void)fputs("<pre tabindex=\"0\"><code>", out);
        html_print_text(out, tables->command);
        (void)fputs("</code></pre>\n", out);
    }
    (void)fputs("</header>\n", out);
}

static void print_end(FILE *out)
{
    (void)fputs("</main>\n<footer>\n"
                "<p>Times are medians, as m:ss. Data rates are KB (1024 bytes) of file content per "
                "second of that time. Intervals are 95% ones, and stand where there are five runs "
                "or more. Methods that share a rank are not shown to differ.</p>\n"
                "</footer>\n</body>\n</html>\n",
        out);
}

int render_html(FILE *out, const struct tables *tables)
{
    struct page page = {.out = out};
    int r = 0;

    print_begin(out, tables);
    print_contents(out, tables);
    (void)fputs("<main id=\"main\" tabindex=\"-1\">\n", out);
    for (size_t i = 0; i < tables->n && r == 0; i++)
        r = print_section(&page, tables->all[i], i + 1);
    print_end(out);
    return r;
}
