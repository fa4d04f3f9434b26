#include "workload/layouts.h"

#include "base/cleanup.h"
#include "workload/domains.h"
#include "workload/maker.h"
#include "workload/mix.h"
#include "workload/workload.h"

/* A documentation disc: shelves of books; a book has chapters, figures and an index. */
static const char *const subjects[] = {"Audio", "Backup", "Compiler", "Desktop", "Disk", "Graphics",
    "Mail", "Network", "Printing", "Tuning"};
static const struct {
    const char *name, *book; /* of the shelf; of the kind of book on it */
} shelves[] = {{"enduser", "Primer"}, {"admin", "AdminGuide"}, {"developer", "Cookbook"},
    {"reference", "Reference"}};

enum {
    N_SUBJECTS = ELEMENTS(subjects),
    N_SHELVES = ELEMENTS(shelves),
    N_BOOKS = N_SUBJECTS * N_SHELVES, /* of a full disc */
    CHAPTERS_LEAST = 3,
};

/* Discs of books: one stands for itself, several are numbered directories. What is not a chapter or
 * a figure is fixed: 3 files at the top of a disc, its release notes, each shelf's map, and each
 * book's map and indexes. */
struct library {
    struct maker *maker;
    uint64_t books, discs;
    uint64_t pages;                /* chapters and figures of all */
    uint64_t thickness;            /* of all books */
    uint64_t book, thickness_done; /* so far */
};

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static uint64_t count_books(const struct workload *workload)
{
    uint64_t books = (N_BOOKS * workload->scale + SCALE_ONE / 2) / SCALE_ONE;

    return books > 0 ? books : 1;
}

static uint64_t count_shelves(uint64_t books)
{
    return books / N_BOOKS * N_SHELVES + divide_up(books % N_BOOKS, N_SUBJECTS);
}

uint64_t layout_insight_directories(const struct workload *workload)
{
    uint64_t books = count_books(workload), discs = divide_up(books, N_BOOKS);

    /* The top and each disc's, but for a single one; release notes; two a shelf; three a book. */
    return (discs > 1 ? 1 + discs : 1) + discs + 2 * count_shelves(books) + 3 * books;
}

/* Books differ in thickness, up to six times. */
static uint64_t thickness(uint64_t seed, uint64_t book)
{
    return 12 + mix(seed, DOMAIN_BOOK, book) % 60;
}

/* The pages of the next book. */
static uint64_t next_pages(struct library *library)
{
    uint64_t before = library->pages * library->thickness_done / library->thickness;

    library->thickness_done += thickness(library->maker->seed, library->book++);
    return library->pages * library->thickness_done / library->thickness - before;
}

static void lay_out_book(struct library *library, unsigned subject, unsigned shelf)
{
    struct maker *maker = library->maker;
    unsigned pages = (unsigned)next_pages(library);
    unsigned chapters = CHAPTERS_LEAST + pages / 5;
    unsigned figures = pages - chapters;

    maker_enter(maker, "%s%s", subjects[subject], shelves[shelf].book);
    maker_file(maker, CONTENT_TEXT, "book.map");
    for (unsigned i = 1; i <= chapters; i++)
        maker_file(maker, CONTENT_TEXT, "ch%02u.txt", i);
    maker_enter(maker, "figures");
    for (unsigned i = 1; i <= figures; i++)
        maker_file(maker, CONTENT_RANDOM, "fig%03u.gif", i);
    maker_leave(maker);
    maker_enter(maker, "index");
    maker_file(maker, CONTENT_TEXT, "words.idx");
    maker_file(maker, CONTENT_TEXT, "titles.idx");
    maker_file(maker, CONTENT_TEXT, "terms.idx");
    maker_file(maker, CONTENT_TEXT, "figures.idx");
    maker_leave(maker);
    maker_leave(maker);
}

static void lay_out_disc(struct library *library)
{
    struct maker *maker = library->maker;

    maker_file(maker, CONTENT_TEXT, "contents.idx");
    maker_file(maker, CONTENT_TEXT, "library.map");
    maker_file(maker, CONTENT_TEXT, "welcome.txt");
    maker_enter(maker, "relnotes");
    for (unsigned i = 0; i < N_SUBJECTS; i++)
        maker_file(maker, CONTENT_TEXT, "%s.txt", subjects[i]);
    maker_leave(maker);
    for (unsigned shelf = 0; shelf < N_SHELVES && library->book < library->books; shelf++) {
        maker_enter(maker, "%s", shelves[shelf].name);
        maker_file(maker, CONTENT_TEXT, "shelf.map");
        maker_enter(maker, "books");
        for (unsigned i = 0; i < N_SUBJECTS && library->book < library->books; i++)
            lay_out_book(library, i, shelf);
        maker_leave(maker);
        maker_leave(maker);
    }
}

void layout_insight(struct maker *maker)
{
    struct library library = {.maker = maker, .books = count_books(maker->workload)};

    library.discs = divide_up(library.books, N_BOOKS);
    library.pages = maker->workload->files - (3 + N_SUBJECTS) * library.discs -
                    count_shelves(library.books) - 5 * library.books;
    for (uint64_t i = 0; i < library.books; i++)
        library.thickness += thickness(maker->seed, i);
    for (uint64_t i = 1; i <= library.discs && !maker->error; i++) {
        if (library.discs > 1)
            maker_enter(maker, "disc%03llu", (unsigned long long)i);
        lay_out_disc(&library);
        if (library.discs > 1)
            maker_leave(maker);
    }
}

void layout_one(struct maker *maker)
{
    maker_file(maker, CONTENT_TEXT, "large.txt");
}

void layout_flat(struct maker *maker)
{
    uint64_t files = maker->workload->files, per_directory = maker->workload->per_directory;

    for (uint64_t i = 0; i < files && !maker->error; i++) {
        if (i % per_directory == 0)
            maker_enter(maker, "dir%06llu", (unsigned long long)(i / per_directory));
        maker_file(maker, CONTENT_TEXT, "file%06llu.txt", (unsigned long long)(i % per_directory));
        if (i % per_directory == per_directory - 1 || i == files - 1)
            maker_leave(maker);
    }
}
