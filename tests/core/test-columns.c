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

/* Moves the n elements of the column to guarded memory with this stride, which may be negative. */
static void
move_column (nms_column *column, Guarded *guarded, size_t n, size_t size, ptrdiff_t stride)
{
  const ptrdiff_t old = column->stride ? column->stride : (ptrdiff_t) size;
  char *to = guarded->data + (stride < 0 && n ? (size_t) -stride * (n - 1) : 0);

  for (size_t i = 0; i < n; i++)
    memcpy (to + (ptrdiff_t) i * stride, (const char *) column->data + (ptrdiff_t) i * old, size);
  *column = (nms_column) { to, stride };
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
  static const size_t columns[] = { offsetof (nms_boxes, x1), offsetof (nms_boxes, y1),
    offsetof (nms_boxes, x2), offsetof (nms_boxes, y2), offsetof (nms_boxes, score),
    offsetof (nms_boxes, class_id), offsetof (nms_boxes, parent), offsetof (nms_boxes, angle),
    offsetof (nms_boxes, source), offsetof (nms_boxes, exclude) };
  enum { COLUMNS = G_N_ELEMENTS (columns) };
  const ptrdiff_t extra = ((const typeof (*strides) *) data)->extra;

  for (uint64_t seed = 0; seed < 120; seed++) {
    BoxRandom random = { 600 + seed / 2 };
    g_auto (BoxCall) call = { 0 };
    Guarded guarded[COLUMNS] = { 0 };
    const int temper = (int) (seed / 2 % BOXGEN_TEMPERS), at_end = seed % 2;

    boxcall_random (&call, &random, temper, boxrandom_below (&random, 140));
    if (seed % 10 < 4)
      boxcall_random_method (&call, &random, temper);
    nms_boxes moved = call.boxes;
    for (size_t c = 0; c < COLUMNS; c++) {
      nms_column *column = (nms_column *) ((char *) &moved + columns[c]);
      const size_t n = moved.count, size = c + 1 == COLUMNS ? 1 : 4;
      const ptrdiff_t step = (ptrdiff_t) size + (extra < 0 ? -extra - 1 : extra);
      if (!column->data)
        continue;
      guarded_init (&guarded[c], n ? (n - 1) * (size_t) step + size : 0, at_end);
      move_column (column, &guarded[c], n, size, extra < 0 ? -step : step);
    }
    g_assert_cmpstr (enginecheck_run (context, &moved, &call.options, ENGINECHECK_FULL), ==, NULL);
    for (size_t c = 0; c < COLUMNS; c++)
      if (guarded[c].map)
        guarded_clear (&guarded[c]);
  }
}

/* The library writes only the elements of the output arrays and of converted rows: they
 * lie between pages that cannot be accessed. */
static void
test_outputs (void)
{
  static const size_t sizes[] = { sizeof (int32_t), 1, sizeof (int32_t), sizeof (uint32_t),
    sizeof (float[4]) };

  for (size_t n = 0; n < 140; n++) {
    BoxRandom random = { 900 + n };
    g_auto (BoxCall) call = { 0 };
    Guarded out[G_N_ELEMENTS (sizes)];
    nms_result result = { .size = sizeof result };

    boxcall_random (&call, &random, BOXGEN_CROWD, n);
    for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
      guarded_init (&out[i], n * sizes[i], (int) (n & 1));
    float *rows = (float *) out[4].data;
    nms_batch_arrays arrays = { .size = sizeof arrays,
      .kept = (int32_t *) out[0].data,
      .kept_capacity = n,
      .outcome = (uint8_t *) out[1].data,
      .suppressed_by = (int32_t *) out[2].data };
    g_assert_cmpint (enginecheck_batch (context, &call.boxes, &call.options, &arrays, &result), ==,
        NMS_OK);
    g_assert_cmpint (nms_count_neighbors (context, &call.boxes, &call.options,
                         (uint32_t *) out[3].data),
        ==, NMS_OK);
    memset (rows, 0, n * sizeof (float[4]));
    nms_rows_from_cxcywh (rows, n, rows);
    nms_rows_from_xywh (rows, n, rows);
    for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
      guarded_clear (&out[i]);
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
