/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nms_count_neighbors on cases worked out by hand. test-properties has random frames. */
#include "handrows.h"
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

static const TestCase cases[] = { TEST_ROWS ("/neighbors/%s", test_row, rows), { NULL } };

TEST_PROGRAM (cases, sharedcontext_start, sharedcontext_finish);
