/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns: the result does not depend on stride and alignment, and no byte outside of
 * the elements is read. The elements lie between two pages that cannot be read.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "sharedcontext.h"
#include "scoped.h"
#include "testrunner.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Holds `size` bytes that end right before, or begin right after, a page that cannot be
 * read. */
typedef struct {
  char *map;
  size_t map_size;
  char *data;
} Guarded;

static void
guarded_init (Guarded *g, size_t size, int at_end)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  size_t inner = (size + page - 1) / page * page + page;

  g->map_size = inner + 2 * page;
  g->map = mmap (NULL, g->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_true (g->map != MAP_FAILED);
  g_assert_cmpint (mprotect (g->map + page, inner, PROT_READ | PROT_WRITE), ==, 0);
  g->data = at_end ? g->map + page + inner - size : g->map + page;
}

static void
guarded_clear (Guarded *g)
{
  munmap (g->map, g->map_size);
}

/* Copies the elements of `from` to guarded memory with this stride, which may be
 * negative. */
static void
move_column (nms_column *to, Guarded *guarded, const nms_column *from, size_t n, size_t size,
    ptrdiff_t stride, int at_end)
{
  size_t step = (size_t) (stride < 0 ? -stride : stride);
  size_t span = n ? (n - 1) * step + size : 0;

  guarded_init (guarded, span, at_end);
  to->data = stride < 0 && n ? guarded->data + (n - 1) * step : guarded->data;
  to->stride = stride;
  for (size_t i = 0; i < n; i++) {
    ptrdiff_t old = from->stride ? from->stride : (ptrdiff_t) size;
    memcpy ((char *) to->data + (ptrdiff_t) i * stride,
        (const char *) from->data + (ptrdiff_t) i * old, size);
  }
}

/* Bytes between one element and the next, in memory order; from -1 on downwards the
 * elements lie in reverse order. */
static const struct {
  const char *name;
  ptrdiff_t extra;
} strides[] = { { "+0", 0 }, { "+1", 1 }, { "+3", 3 }, { "+4", 4 }, { "+12", 12 }, { "+61", 61 },
  { "-1", -1 }, { "-2", -2 }, { "-5", -5 }, { "-13", -13 }, { NULL } };

static void
test_strides (gconstpointer data)
{
  const ptrdiff_t extra = ((const typeof (*strides) *) data)->extra;

  for (uint64_t seed = 0; seed < 60; seed++) {
    BoxRandom random = { 600 + seed };
    g_auto (BoxCall) call = { 0 };
    g_auto (RefResult) expected = { 0 };
    size_t n = boxrandom_below (&random, 140);

    boxcall_random (&call, &random, (int) (seed % BOXGEN_TEMPERS), n);
    ref_run (&call.boxes, &call.options, &expected);
    call.options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;

    nms_boxes moved = call.boxes;
    const struct {
      nms_column *to;
      const nms_column *from;
      size_t size;
    } columns[] = {
      { &moved.x1, &call.boxes.x1, 4 },
      { &moved.y1, &call.boxes.y1, 4 },
      { &moved.x2, &call.boxes.x2, 4 },
      { &moved.y2, &call.boxes.y2, 4 },
      { &moved.score, &call.boxes.score, 4 },
      { &moved.class_id, &call.boxes.class_id, 4 },
      { &moved.exclude, &call.boxes.exclude, 1 },
      { &moved.parent, &call.boxes.parent, 4 },
    };
    for (int at_end = 0; at_end < 2; at_end++) {
      Guarded guarded[G_N_ELEMENTS (columns)];
      for (size_t c = 0; c < G_N_ELEMENTS (columns); c++)
        if (columns[c].from->data) {
          ptrdiff_t size = (ptrdiff_t) columns[c].size;
          move_column (columns[c].to, &guarded[c], columns[c].from, n, columns[c].size,
              extra < 0 ? -(size - extra - 1) : size + extra, at_end);
        }
      for (int e = 0; e < ENGINECHECK_ENGINES; e++) {
        nms_result result = { .size = sizeof result };
        g_autofree uint32_t *neighbors = g_new (uint32_t, n + 1);
        call.options.engine = enginecheck_engines[e];
        g_assert_cmpint (nms_run (context, &moved, &call.options, &result), ==, NMS_OK);
        g_assert_cmpstr (enginecheck_difference (&result, &expected), ==, NULL);
        g_assert_cmpint (nms_count_neighbors (context, &moved, &call.options, neighbors), ==,
            NMS_OK);
      }
      for (size_t c = 0; c < G_N_ELEMENTS (columns); c++)
        if (columns[c].from->data)
          guarded_clear (&guarded[c]);
    }
  }
}

/* The library writes only the elements of the output arrays and of converted rows: they
 * lie between pages that cannot be accessed. */
static void
test_outputs (void)
{
  for (size_t n = 0; n < 140; n++) {
    BoxRandom random = { 900 + n };
    g_auto (BoxCall) call = { 0 };
    Guarded kept, outcome, suppressed_by, neighbors, rows;
    nms_result result = { .size = sizeof result };
    int at_end = (int) (n & 1);

    boxcall_random (&call, &random, BOXGEN_CROWD, n);
    guarded_init (&kept, n * sizeof (int32_t), at_end);
    guarded_init (&outcome, n, at_end);
    guarded_init (&suppressed_by, n * sizeof (int32_t), at_end);
    guarded_init (&neighbors, n * sizeof (uint32_t), at_end);
    guarded_init (&rows, n * 4 * sizeof (float), at_end);
    nms_batch_arrays arrays = { .size = sizeof arrays,
      .kept = (int32_t *) kept.data,
      .kept_capacity = n,
      .outcome = (uint8_t *) outcome.data,
      .suppressed_by = (int32_t *) suppressed_by.data };
    g_assert_cmpint (enginecheck_batch (context, &call.boxes, &call.options, &arrays, &result), ==,
        NMS_OK);
    g_assert_cmpint (nms_count_neighbors (context, &call.boxes, &call.options,
                         (uint32_t *) neighbors.data),
        ==, NMS_OK);
    memset (rows.data, 0, n * 4 * sizeof (float));
    nms_rows_from_cxcywh ((float *) rows.data, n, (float *) rows.data);
    nms_rows_from_xywh ((float *) rows.data, n, (float *) rows.data);
    guarded_clear (&kept);
    guarded_clear (&outcome);
    guarded_clear (&suppressed_by);
    guarded_clear (&neighbors);
    guarded_clear (&rows);
  }
}

/* Absent columns have the defaults that nmscore.h states. */
static void
test_absent (void)
{
  static const float rows[][4] = { { 0, 0, 4, 2 }, { 0, 0, 4, 4 }, { 0, 0, 4, 3.5f },
    { 9, 9, 12, 12 } };
  nms_boxes boxes = { .size = sizeof boxes, .count = G_N_ELEMENTS (rows) };
  nms_result result = { .size = sizeof result };

  nms_boxes_set_rows (&boxes, rows[0]);
  g_assert_cmpint (nms_run (context, &boxes, NULL, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 3); /* 8/16 is not above 0.5; 8/14 and 14/16 are */
  g_assert_cmpint (result.kept[0], ==, 0);
  g_assert_cmpint (result.kept[1], ==, 1);
  g_assert_cmpint (result.kept[2], ==, 3);
  g_assert_cmpuint (result.suppressed_count, ==, 1);
  g_assert_null (result.outcome);
  g_assert_null (result.suppressed_by);

  boxes = (nms_boxes) { .size = sizeof boxes };
  g_assert_cmpint (nms_run (context, &boxes, NULL, &result), ==, NMS_OK);
  g_assert_cmpuint (result.kept_count, ==, 0);
}

static const TestCase cases[] = { TEST_ROWS ("/columns/stride/%s", test_strides, strides),
  CASE (test_outputs), CASE (test_absent), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
