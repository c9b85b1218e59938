/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-core: times calls of nms_run on one workload of files.
 *
 *   bench-core [OPTIONS] FOLDER      prints the median and quartiles
 *   bench-core [OPTIONS] --serve     reads commands from standard input, in the
 *                                    format of worker.py, for run.py
 *
 * A FOLDER has rows.f32 (packed rows x1 y1 x2 y2), scores.f32 and, optionally,
 * classes.i32, raw and little-endian, as workloads.py writes them, and in its folders 1, 2 ... the
 * same of other frames. A call is what an application makes: the rows as they are, all checks, the
 * kept list and the outcome of each box, of the next frame at each call.
 */
#include <nmscore.h>
#ifdef HAVE_ACCEL
#include <nmsxla.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define XLA_BOXES 65536 /* NMS_XLA_MAX_BOXES */

#define MAX_LINE 4096
#define MAX_CALLS 100000
#define MAX_FRAMES 64
#define DEFAULT_CALLS 1000
#define DEFAULT_SECONDS 5.0 /* limit of calls without --repeat */

typedef struct frame {
  nms_boxes boxes;
  float *rows, *scores;
  int32_t *classes; /* NULL: no classes */
} frame;

typedef struct bench {
  nms_context *ctx;
  nms_options options;
  nms_result result;
  frame frames[MAX_FRAMES];
  int frame_count, next; /* next: frame of the next call */
  uint64_t *times;       /* MAX_CALLS, in nanoseconds */
} bench;

static void
die (const char *what, const char *detail)
{
  fprintf (stderr, "bench-core: %s: %s\n", what, detail);
  exit (1);
}

/* ---------------------------------------------------------------- workload */

/* Reads FOLDER/NAME into new memory and sets *size. Returns NULL if there is no such
 * file. Allocates one byte more, so that an empty file is not NULL. */
static void *
read_file (const char *folder, const char *name, size_t *size)
{
  char path[MAX_LINE];
  FILE *file;
  char *data;
  long end = -1;

  snprintf (path, sizeof path, "%s/%s", folder, name);
  file = fopen (path, "rb");
  if (!file)
    return NULL;
  if (fseek (file, 0, SEEK_END) != 0 || (end = ftell (file)) < 0)
    die (path, "cannot tell its size");
  rewind (file);
  data = malloc ((size_t) end + 1);
  if (!data)
    die (path, "out of memory");
  *size = fread (data, 1, (size_t) end, file);
  fclose (file);
  return data;
}

static void
free_frames (bench *b)
{
  for (int i = 0; i < b->frame_count; i++) {
    free (b->frames[i].rows);
    free (b->frames[i].scores);
    free (b->frames[i].classes);
  }
  b->frame_count = b->next = 0;
}

/* Reads the files of the next frame, if there are any. Returns NULL, or a description of the
 * error. */
static const char *
read_frame (bench *b, const char *folder)
{
  frame *f = &b->frames[b->frame_count];
  size_t row_bytes = 0, score_bytes = 0, class_bytes = 0, count;

  *f = (frame) { .boxes = { .size = sizeof f->boxes } };
  f->rows = read_file (folder, "rows.f32", &row_bytes);
  if (!f->rows)
    return NULL;
  b->frame_count++;
  f->scores = read_file (folder, "scores.f32", &score_bytes);
  f->classes = read_file (folder, "classes.i32", &class_bytes);
  count = score_bytes / sizeof (float);
  if (!f->scores || row_bytes != count * 4 * sizeof (float)
      || (f->classes && class_bytes != count * sizeof (int32_t)))
    return "the files differ in their number of boxes";
  f->boxes.count = count;
  nms_boxes_set_rows (&f->boxes, f->rows);
  f->boxes.score.data = f->scores;
  f->boxes.class_id.data = f->classes;
  return NULL;
}

/* Reads the workload. Returns NULL, or a description of the error. */
static const char *
load (bench *b, const char *folder, float iou, uint64_t cap)
{
  const char *error;
  int before;

  free_frames (b);
  error = read_frame (b, folder);
  if (error || b->frame_count == 0)
    return error ? error : "rows.f32 is missing";
  do {
    char path[MAX_LINE];

    before = b->frame_count;
    snprintf (path, sizeof path, "%s/%d", folder, before);
    error = before < MAX_FRAMES ? read_frame (b, path) : NULL;
  } while (!error && b->frame_count > before);
  nms_context_trim (b->ctx); /* so that the scratch size reported is that of this workload */
  b->options.iou_threshold = iou;
  b->options.max_detections = cap;
  return error;
}

/* ----------------------------------------------------------------- timing */

static uint64_t
now (clockid_t clock)
{
  struct timespec t;
  clock_gettime (clock, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static int
call (bench *b)
{
  const frame *f = &b->frames[b->next];

  b->next = (b->next + 1) % b->frame_count;
  return nms_run (b->ctx, &f->boxes, &b->options, &b->result);
}

/* Runs the first frame. */
static int
call_first (bench *b)
{
  b->next = 0;
  return call (b);
}

/* Fills b->times with at least one and up to `count` calls; stops after `seconds`.
 * Returns the number of calls, or a negative code of nmscore. */
static long
run (bench *b, long count, double seconds, clockid_t clock)
{
  const uint64_t end = now (CLOCK_MONOTONIC) + (uint64_t) (seconds * 1e9);
  long i;

  if (count > MAX_CALLS)
    count = MAX_CALLS;
  for (i = 0; i < count && (i == 0 || now (CLOCK_MONOTONIC) < end); i++) {
    uint64_t start = now (clock);
    int error = call (b);
    b->times[i] = now (clock) - start;
    if (error < 0)
      return error;
  }
  return i;
}

/* Returns a size from /proc/self/status in bytes, or 0. */
static size_t
process_status (const char *field)
{
  FILE *file = fopen ("/proc/self/status", "r");
  char line[256];
  size_t kilobytes = 0;

  if (!file)
    return 0;
  while (fgets (line, sizeof line, file))
    if (strncmp (line, field, strlen (field)) == 0)
      kilobytes = strtoul (line + strlen (field) + 1, NULL, 10);
  fclose (file);
  return kilobytes * 1024;
}

/* Returns by how many bytes one call raises the peak of resident memory. */
static size_t
peak_growth (bench *b)
{
  FILE *file = fopen ("/proc/self/clear_refs", "w");
  size_t before, after;

  if (file) {
    fputs ("5", file);
    fclose (file);
  }
  before = process_status ("VmRSS");
  call_first (b);
  after = process_status ("VmHWM");
  return after > before ? after - before : 0;
}

/* ------------------------------------------------------------------ report */

static int
compare_times (const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return (x > y) - (x < y);
}

/* Returns the name of the engine that ran last. */
static const char *
engine_name (const bench *b)
{
  const int engine = nms_context_engine (b->ctx);

  return engine == NMS_ENGINE_ADDED ? "xla" : nms_engine_name (engine);
}

static void
print_summary (bench *b, long calls)
{
  qsort (b->times, (size_t) calls, sizeof *b->times, compare_times);
  printf ("%zu boxes, %zu kept: median %.3f us, quartiles %.3f and %.3f, %ld calls, "
          "engine %s, %s, %zu bytes of scratch\n",
      b->frames[0].boxes.count, b->result.kept_count, (double) b->times[calls / 2] / 1e3,
      (double) b->times[calls / 4] / 1e3, (double) b->times[calls * 3 / 4] / 1e3, calls,
      engine_name (b), nms_context_isa (b->ctx), nms_context_scratch (b->ctx));
}

static void
print_about (bench *b)
{
  const int version = nms_version ();

  printf ("{\"versions\": {\"gst-nms\": \"%d.%d.%d\"}, \"engine\": \"%s\", \"cpu\": \"%s\", "
          "\"scratch\": %zu, \"compiler\": \"%s\"}\n",
      version / 1000000, version / 1000 % 1000, version % 1000, engine_name (b),
      nms_context_isa (b->ctx), nms_context_scratch (b->ctx), BENCH_COMPILER);
}

/* ------------------------------------------------------------------- serve */

static void
answer_load (bench *b)
{
  const char *folder = strtok (NULL, "\t"), *iou = strtok (NULL, "\t");
  const char *cap = strtok (NULL, "\t"), *error;

  if (!folder || !iou || !cap)
    error = "load FOLDER IOU CAP";
  else
    error = load (b, folder, strtof (iou, NULL), strtoull (cap, NULL, 10));
  if (error)
    printf ("error %s\n", error);
  else if (b->options.engine == NMS_ENGINE_ADDED && b->frames[0].boxes.count > XLA_BOXES)
    printf ("skip engine xla takes at most %d boxes\n", XLA_BOXES);
  else if (b->options.engine == NMS_ENGINE_ADDED && run (b, 1, 1e9, CLOCK_MONOTONIC) < 0)
    printf ("error %s\n", nms_context_error (b->ctx)); /* this call compiled the program */
  else
    puts ("ok");
}

static void
answer_run (bench *b)
{
  const char *count = strtok (NULL, "\t"), *clock = strtok (NULL, "\t");
  const long calls = run (b, count ? strtol (count, NULL, 10) : 1, 1e9,
      clock && strcmp (clock, "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);

  if (calls < 0)
    printf ("error %s", nms_context_error (b->ctx));
  for (long i = 0; i < calls; i++)
    printf ("%llu ", (unsigned long long) b->times[i]);
  puts ("");
}

static void
answer_kept (bench *b)
{
  const char *path = strtok (NULL, "\t");
  FILE *file = path ? fopen (path, "wb") : NULL;

  if (!file || call_first (b) < 0) {
    puts ("error cannot run or write");
    return;
  }
  fwrite (b->result.kept, sizeof *b->result.kept, b->result.kept_count, file);
  fclose (file);
  printf ("ok %zu\n", b->result.kept_count);
}

static void
serve (bench *b)
{
  char line[MAX_LINE];

  while (fgets (line, sizeof line, stdin)) {
    const char *word;
    line[strcspn (line, "\n")] = 0;
    word = strtok (line, "\t");
    if (!word)
      continue;
    if (strcmp (word, "load") == 0)
      answer_load (b);
    else if (strcmp (word, "run") == 0)
      answer_run (b);
    else if (strcmp (word, "kept") == 0)
      answer_kept (b);
    else if (strcmp (word, "memory") == 0)
      printf ("%zu\n", peak_growth (b));
    else if (strcmp (word, "about") == 0)
      print_about (b);
    else
      printf ("error unknown word %s\n", word);
    fflush (stdout);
  }
}

/* -------------------------------------------------------------------- main */

static void
usage (void)
{
  puts ("usage: bench-core [OPTIONS] FOLDER | --serve\n"
        "  --iou T           suppress above this overlap (0.5)\n"
        "  --max K           most boxes kept, 0: no limit (0)\n"
        "  --engine NAME     auto, or one of those listed below (auto)\n"
        "  --suppressed-by   ask for the suppressor of every box too\n"
        "  --repeat N        calls (1000, or as many as fit into five seconds)\n"
        "  NMS_ISA=LEVEL in the environment forces an instruction set.\n"
        "Engines:");
  for (int i = 0; nms_engine_name (i); i++)
    printf ("  %s\n", nms_engine_name (i));
}

static uint32_t
add_xla (nms_context *ctx)
{
#ifdef HAVE_ACCEL
  nms_added_engine engine = { .size = sizeof engine };
  if (!nms_xla_engine (NULL, NMS_XLA_STRICT, &engine) && !nms_context_add_engine (ctx, &engine))
    return NMS_ENGINE_ADDED;
#endif
  die ("xla", "not in this build");
  return 0;
}

static uint32_t
engine_by_name (nms_context *ctx, const char *name)
{
  if (strcmp (name, "xla") == 0)
    return add_xla (ctx);
  for (int i = 0; nms_engine_name (i); i++)
    if (strcmp (name, nms_engine_name (i)) == 0)
      return (uint32_t) i;
  die (name, "no such engine");
  return 0;
}

int
main (int argc, char **argv)
{
  bench b = { .result = { .size = sizeof b.result }, .ctx = nms_context_new () };
  const char *folder = NULL, *error;
  float iou = 0.5f;
  uint64_t cap = 0;
  long repeat = 0, calls;
  int serving = 0;

  nms_options_init (&b.options, sizeof b.options);
  b.options.outputs = NMS_OUTPUT_OUTCOME;
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp (arg, "--help") == 0) {
      usage ();
      return 0;
    }
    if (strcmp (arg, "--serve") == 0)
      serving = 1;
    else if (strcmp (arg, "--suppressed-by") == 0)
      b.options.outputs |= NMS_OUTPUT_SUPPRESSED_BY;
    else if (strcmp (arg, "--iou") == 0 && ++i)
      iou = strtof (value, NULL);
    else if (strcmp (arg, "--max") == 0 && ++i)
      cap = strtoull (value, NULL, 10);
    else if (strcmp (arg, "--engine") == 0 && ++i)
      b.options.engine = engine_by_name (b.ctx, value);
    else if (strcmp (arg, "--repeat") == 0 && ++i)
      repeat = strtol (value, NULL, 10);
    else if (arg[0] != '-' && !folder)
      folder = arg;
    else
      die (arg, "unknown argument; see --help");
  }
  if (!serving && !folder)
    die ("no FOLDER", "see --help");

  b.times = calloc (MAX_CALLS, sizeof *b.times);
  if (!b.ctx || !b.times)
    die ("start", "out of memory");
  if (serving) {
    serve (&b);
  } else {
    error = load (&b, folder, iou, cap);
    if (error)
      die (folder, error);
    calls = run (&b, repeat > 0 ? repeat : DEFAULT_CALLS, repeat > 0 ? 1e9 : DEFAULT_SECONDS,
        CLOCK_MONOTONIC);
    if (calls < 0 || call_first (&b) < 0)
      die (folder, nms_context_error (b.ctx));
    print_summary (&b, calls);
  }
  nms_context_free (&b.ctx);
  free_frames (&b);
  free (b.times);
  return 0;
}
