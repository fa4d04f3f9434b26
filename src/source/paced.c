#include "source/paced.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "drive/drive.h"

struct paced_sectors {
    struct sectors sectors;
    struct sectors *inner;
    struct drive *drive;
    double time_scale;
    uint64_t start_ns; /* the drive's time 0 */

    pthread_mutex_t lock; /* guards what follows, and the drive */
    uint64_t answered_ns; /* the drive's last answer, in its time */
    unsigned char *read;  /* a bit for each sector that the host has */
};

static bool has_sector(const struct paced_sectors *paced, uint64_t lba)
{
    return paced->read[lba / 8] >> (lba % 8) & 1;
}

static uint64_t drive_time(const struct paced_sectors *paced)
{
    double now = (double)(clock_now_ns() - paced->start_ns) * paced->time_scale;
    return now > (double)paced->answered_ns ? (uint64_t)now : paced->answered_ns;
}

/* With the lock held: asks the drive for what the host has not yet of [first, end). */
static void ask(struct paced_sectors *paced, uint64_t first, uint64_t end)
{
    for (uint64_t lba = first; lba < end;) {
        uint64_t count = 0;
        while (lba + count < end && !has_sector(paced, lba + count)) {
            paced->read[(lba + count) / 8] |= (unsigned char)(1 << (lba + count) % 8);
            count++;
        }
        if (count > 0)
            paced->answered_ns = drive_read(paced->drive, lba, count, drive_time(paced));
        lba += count > 0 ? count : 1;
    }
}

static ssize_t paced_read(
    struct sectors *sectors, void *buffer, size_t n, uint64_t offset, uint64_t *ret_bad)
{
    struct paced_sectors *paced = (struct paced_sectors *)sectors;
    uint64_t first = offset / SECTOR_BYTES, end = first;

    if (n > 0 && offset < sectors->bytes)
        end = (offset + (n < sectors->bytes - offset ? n : sectors->bytes - offset) - 1) /
                  SECTOR_BYTES +
              1;
    (void)pthread_mutex_lock(&paced->lock);
    uint64_t before = paced->answered_ns;
    ask(paced, first, end);
    uint64_t there = paced->answered_ns;
    (void)pthread_mutex_unlock(&paced->lock);
    if (there > before)
        clock_sleep_until_ns(paced->start_ns + (uint64_t)((double)there / paced->time_scale));
    return paced->inner->ops->read(paced->inner, buffer, n, offset, ret_bad);
}

static void paced_free(struct sectors *sectors)
{
    struct paced_sectors *paced = (struct paced_sectors *)sectors;

    paced->inner->ops->free(paced->inner);
    drive_free(paced->drive);
    (void)pthread_mutex_destroy(&paced->lock);
    free(paced->read);
    free(paced);
}

static const struct sectors_ops paced_ops = {.read = paced_read, .free = paced_free};

int paced_sectors_new(
    struct sectors *sectors, struct drive *drive, double time_scale, struct sectors **ret)
{
    struct paced_sectors *paced = calloc(1, sizeof(*paced));
    uint64_t n = (sectors->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;

    if (paced)
        paced->read = calloc(n / 8 + 1, 1);
    if (!paced || !paced->read) {
        free(paced);
        sectors->ops->free(sectors);
        drive_free(drive);
        return -ENOMEM;
    }
    paced->sectors = (struct sectors){.ops = &paced_ops, .bytes = sectors->bytes, .fd = -1};
    paced->inner = sectors;
    paced->drive = drive;
    paced->time_scale = time_scale;
    paced->start_ns = clock_now_ns();
    (void)pthread_mutex_init(&paced->lock, NULL); /* glibc's does not fail */
    *ret = &paced->sectors;
    return 0;
}
