/* The exact sweep of a pipeline in plain C: the twin that `sapwood bench plan` runs beside ours, on the same order of
   operations. It speaks the protocol of bench/peers/peer.py.

       sweep FILE [--threads N]       one thread, whatever N says

   FILE, in native byte order: u64 steps, stages, operations, links; then per step u32 awaits, duration, link, stage
   (awaits: place of the awaited step plus one, 0 for none); then u64 times of operations, of links and of tails. */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct step { uint32_t awaits, duration, link, stage; };

static uint64_t steps, stages, operations, links;
static struct step *order;
static uint64_t *times, *hops, *tails, *ends, *clocks;

static uint64_t sweep(void) {
    const struct step *restrict step = order;
    const uint64_t *restrict time = times, *restrict hop = hops;
    uint64_t *restrict end = ends, *restrict clock = clocks;
    memset(clock, 0, stages * sizeof *clock);
    end[0] = 0;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t ready = end[step[i].awaits] + hop[step[i].link], free = clock[step[i].stage];
        uint64_t done = (free > ready ? free : ready) + time[step[i].duration];
        clock[step[i].stage] = done;
        end[i + 1] = done;
    }
    uint64_t latest = 0;
    for (uint64_t s = 0; s < stages; s++)
        if (clock[s] + tails[s] > latest) latest = clock[s] + tails[s];
    return latest;
}

static void *take(FILE *file, uint64_t count, size_t size) {
    void *data = malloc(count * size + size);
    if (!data || fread(data, size, count, file) != count) {
        fprintf(stderr, "the file of the order is too short\n");
        exit(1);
    }
    return data;
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    uint64_t *sizes = take(file, 4, 8);
    steps = sizes[0], stages = sizes[1], operations = sizes[2], links = sizes[3];
    order = take(file, steps, sizeof *order);
    times = take(file, operations, 8);
    hops = take(file, links, 8);
    tails = take(file, stages, 8);
    ends = malloc((steps + 1) * 8);
    clocks = malloc(stages * 8);
    fclose(file);
    for (uint64_t i = 0; i < steps; i++)
        if (order[i].awaits > i || order[i].duration >= operations || order[i].link >= links || order[i].stage >= stages) {
            fprintf(stderr, "step %" PRIu64 " names a place that is not there\n", i);
            exit(1);
        }
}

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: sweep FILE\n");
        return 2;
    }
    load(arguments[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("{\"ready\": true, \"system\": \"c-twin\", \"version\": \"%s\", \"threads\": 1}\n", __VERSION__);
    char line[256], what[64];
    unsigned long long times_in_a_row;
    volatile uint64_t keep = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "run %63s %llu", what, &times_in_a_row) == 2) {
            double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
            for (unsigned long long i = 0; i < times_in_a_row; i++) keep = sweep();
            wall = now(CLOCK_MONOTONIC) - wall, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
            printf("{\"wall_s\": %.17g, \"cpu_s\": %.17g}\n", wall / (double)times_in_a_row, cpu / (double)times_in_a_row);
        } else if (!strncmp(line, "check", 5)) {
            keep = sweep();
            printf("{\"values\": [%" PRIu64 "]}\n", keep);
        } else if (!strncmp(line, "quit", 4)) {
            return 0;
        } else {
            printf("{\"error\": \"unknown command\"}\n");
        }
    }
    return 0;
}
