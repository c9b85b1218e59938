/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nms_count_neighbors on cases worked out by hand, and on frames of jittered objects, which
 * it compares with the reference. test-properties does so for random frames.
 */
#include "boxgen.h"
#include "enginecheck.h"
#include "handrows.h"
#include "rounds.h"
#include "scoped.h"
#include "sharedcontext.h"
#include "testrunner.h"

#include <string.h>

/* `expect` lists the number of neighbors of each box. */
static const HandRow rows[] = { { "no box", "", "", "" },
  { "one box is not its own neighbor", "iou=0 inclusive", "whole 0", "0" },
  { "equal boxes", "", "whole 0; whole 0; whole 0; far 0", "2 2 2 0" },
  { "equal boxes under threshold 1", "iou=1", "whole 0; whole 0", "0 0" },
  { "equal boxes reach threshold 1", "iou=1 inclusive", "whole 0; whole 0", "1 1" },
  { "equal boxes without area", "iou=0 inclusive", "1,1,1,3 0; 1,1,1,3 0", "0 0" },
  /* whole-half 1/2, whole-quarter 1/4, half-quarter 1/2 */
  { "overlap equal to the threshold", "", "whole 0; half 0; quarter 0", "0 0 0" },
  { "overlap equal to the threshold, inclusive", "inclusive", "whole 0; half 0; quarter 0",
      "1 2 1" },
  { "touching", "iou=0 inclusive", "whole 0; next 0", "0 0" },
  { "scores do not matter", "iou=0.4", "whole 0.1; half 0.9; quarter -3", "1 2 1" },
  { "filtered ones have none and are none", "iou=0.25 least=0.5",
      "whole 0.4; whole 0.5; whole 0.9 exclude=1; half 0.9", "0 1 0 1" },
  { "invalid ones have none and are none", "iou=0.25", "0,0,4,nan 0; whole 0; whole nan; half 0",
      "0 1 0 1" },
  { "caps do not matter", "max=1 max-per-class=1", "whole 0; whole 0; whole 0", "2 2 2" },
  { "classes do not meet", "", "whole 0 class=1; whole 0 class=2; whole 0 class=1", "1 0 1" },
  { "classes meet when agnostic", "agnostic", "whole 0 class=1; whole 0 class=2; whole 0 class=1",
      "2 2 2" },
  { "a class's own threshold", "class=7,iou=0.25",
      "whole 0 class=7; half 0 class=7; whole 0 class=8; half 0 class=8", "1 1 0 0" },
  /* 1/2 is above the threshold of class 2 only. The boxes are neighbors if the overlap is above one
   * of the two thresholds, no matter which box has it. */
  { "when agnostic, either threshold counts", "agnostic class=1,iou=0.75 class=2,iou=0.25",
      "whole 0.9 class=1; half 0.8 class=2", "1 1" },
  { "and the other way round", "agnostic class=1,iou=0.75 class=2,iou=0.25",
      "whole 0.9 class=2; half 0.8 class=1", "1 1" },
  /* equal boxes of two classes with different thresholds are not counted as one */
  { "equal boxes of different thresholds", "iou=0.25 agnostic class=1,iou=1",
      "whole 0 class=1; whole 0 class=1; half 0 class=2", "1 1 2" },
  { "a part and its parent do not count each other", "iou=0.25", "whole 0; half 0 parent=0; half 0",
      "1 1 2" },
  { "parts of each other", "iou=0", "whole 0 parent=1; whole 0 parent=0", "0 0" },
  { "its own parent", "iou=0", "whole 0 parent=0; whole 0", "1 1" },
  { "two parts of one parent", "iou=0.25", "whole 0; half 0 parent=0; half 0 parent=0", "0 1 1" },
  { NULL } };

static void
test_row (gconstpointer data)
{
  const HandRow *row = data;
  uint32_t is[HANDROW_BOXES], must[HANDROW_BOXES];
  g_autoptr (GString) text = g_string_new (NULL);
  HandCall call;

  handrow_call (row, &call);
  memset (is, 0x3c, sizeof is);
  g_assert_cmpint (nms_count_neighbors (context, &call.boxes, &call.options, is), ==, NMS_OK);
  ref_count_neighbors (&call.boxes, &call.options, must);
  for (size_t i = 0; i < call.boxes.count; i++)
    g_string_append_printf (text, "%s%u", i ? " " : "", is[i]);
  g_assert_cmpstr (text->str, ==, row->expect);
  g_assert_cmpmem (is, call.boxes.count * sizeof *is, must, call.boxes.count * sizeof *must);
  g_assert_cmphex (is[call.boxes.count], ==, 0x3c3c3c3c);
}

/* Boxes of one object or of some, of which a part are copies of others. Some are rotated: the
 * screen of rotated boxes sees their upright bounding boxes, which prove no overlap. */
static void
test_random (void)
{
  static const float thresholds[] = { 0, 1e-6f, 0.5f, 0.8f, 0.9f, 0.97f, 1 };
  static const int layouts[] = { BOXGEN_ONE_SPOT, BOXGEN_CROWD, BOXGEN_ONE_SPOT, BOXGEN_OUTLIERS };
  static const size_t counts[] = { 64, 20, 500, 65, 200 };
  const uint64_t rounds = rounds_from_environment ("NMS_TEST_ROUNDS", 420);

  for (uint64_t round = 0; round < rounds; round++) {
    BoxRandom random = { round };
    const size_t n = round % 41 ? counts[round % G_N_ELEMENTS (counts)] : 3000;
    const uint32_t equal_percent = round % 41 ? (uint32_t) (round % 3) * 45 : 100;
    g_auto (BoxCall) call = { 0 };
    g_autofree uint32_t *is = g_new (uint32_t, n), *must = g_new (uint32_t, n);
    float angles[500], box[4];

    boxcall_random (&call, &random, layouts[round % G_N_ELEMENTS (layouts)], n);
    for (size_t i = 1; i < n; i++)
      if (boxrandom_below (&random, 100) < equal_percent) {
        boxcall_corners (&call, boxrandom_below (&random, (uint32_t) i), box);
        boxcall_set_corners (&call, i, box);
      }
    call.options.iou_threshold = thresholds[round % G_N_ELEMENTS (thresholds)];
    call.options.min_size_ratio = 0;
    if (n == 64 && round % 2) {
      for (size_t i = 0; i < n; i++)
        angles[i] = boxrandom_below (&random, 2) ? 0.2f * boxrandom_unit (&random) : 0.0f;
      call.boxes.angle.data = angles;
      call.options.iou_threshold = 0.1f * (float) (round % 10) + 0.03f;
    }
    ref_count_neighbors (&call.boxes, &call.options, must);
    for (const char *const *isa = enginecheck_isas; *isa; isa++) {
      if (nms_context_set_isa (context, *isa) != NMS_OK)
        continue;
      g_assert_cmpint (nms_count_neighbors (context, &call.boxes, &call.options, is), ==, NMS_OK);
      g_assert_cmpmem (is, n * sizeof *is, must, n * sizeof *must);
    }
  }
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
}

static const TestCase cases[] = { TEST_ROWS ("/neighbors/%s", test_row, rows), CASE (test_random),
  { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
