#include "report/scale.h"

#include <math.h>
#include <stdint.h>

#include "base/cleanup.h"

static void add_tick(struct scale *scale, double value)
{
    if (scale->n_ticks < TICKS_MOST && value >= scale->low && value <= scale->high)
        scale->ticks[scale->n_ticks++] = value;
}

/* Ticks 1, 2 or 5 times a power of ten apart: three to seven of them. */
static void add_even_ticks(struct scale *scale)
{
    double span = scale->high - scale->low, step = pow(10, floor(log10(span / 3)));

    if (span / step > 12)
        step *= 5;
    else if (span / step > 6)
        step *= 2;
    double first = ceil(scale->low / step);
    for (size_t i = 0; i < TICKS_MOST; i++)
        add_tick(scale, (first + (double)i) * step);
}

/* Ticks at the powers of ten; where those are few, at 2 and 5 times them, too. */
static void add_decade_ticks(struct scale *scale)
{
    static const double times[] = {1, 2, 5};
    double first = floor(log10(scale->low)), last = ceil(log10(scale->high));
    size_t n = last - first > 3 ? 1 : ELEMENTS(times);

    for (double k = first; k <= last; k++)
        for (size_t i = 0; i < n; i++)
            add_tick(scale, times[i] * pow(10, k));
}

struct scale scale_from_zero(enum table_unit unit, double largest)
{
    struct scale scale = {.unit = unit, .high = largest > 0 ? largest * 1.02 : 1};

    add_even_ticks(&scale);
    return scale;
}

struct scale scale_of_decades(enum table_unit unit, double least, double largest)
{
    struct scale scale = {
        .unit = unit, .low = least / 1.3, .high = largest * 1.3, .is_logarithmic = true};

    add_decade_ticks(&scale);
    return scale;
}

struct scale scale_around(enum table_unit unit, double least, double largest)
{
    const double far_apart = 8;
    double margin = largest > least ? (largest - least) * 0.05 : fmax(largest * 0.05, 1);

    if (least > 0 && largest / least > far_apart)
        return scale_of_decades(unit, least, largest);
    struct scale scale = {.unit = unit, .low = fmax(least - margin, 0), .high = largest + margin};
    add_even_ticks(&scale);
    return scale;
}

double scale_percent(const struct scale *scale, double value)
{
    double percent = scale->is_logarithmic
                         ? 100 * log(value / scale->low) / log(scale->high / scale->low)
                         : 100 * (value - scale->low) / (scale->high - scale->low);
    return fmin(fmax(percent, 0), 100);
}

char *format_in_unit(char *buffer, enum table_unit unit, double value)
{
    switch (unit) {
    case UNIT_TIME_NS:
        return format_duration(buffer, (uint64_t)value);
    case UNIT_FILES_PER_SECOND:
        return value < 10 ? format_ratio(buffer, value) : format_whole(buffer, value);
    case UNIT_KB_PER_SECOND:
        break;
    }
    return format_whole(buffer, value);
}

const char *unit_suffix(enum table_unit unit)
{
    static const char *const words[] = {
        [UNIT_KB_PER_SECOND] = " KB/s",
        [UNIT_FILES_PER_SECOND] = " files/s",
        [UNIT_TIME_NS] = "",
    };
    return words[unit];
}
