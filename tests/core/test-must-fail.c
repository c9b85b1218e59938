/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A test that must fail: it runs a row of test-semantics with a wrong expectation. The
 * build system expects the failure; if it passes, failures are not detected.
 */
#include "handrows.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdlib.h>

static void
test_spoilt_row (void)
{
  g_autoptr (nms_context) context = nms_context_new ();
  nms_result result = { .size = sizeof result };
  const HandRow *row = &hardrows[2];
  HandCall call;
  g_autofree char *spoilt = g_strdup (row->expect);

  g_test_set_nonfatal_assertions ();
  handrow_call (row, &call);
  if (nms_run (context, &call.boxes, &call.options, &result) != NMS_OK)
    exit (0); /* another failure than the expected one */
  g_autofree char *is = handrow_describe (row, &result, call.boxes.count);
  if (g_strcmp0 (is, row->expect) != 0)
    exit (0); /* another failure than the expected one */
  spoilt[0] = 'F';
  g_assert_cmpstr (is, ==, spoilt);
}

static const TestCase cases[] = { CASE (test_spoilt_row), { NULL } };

TEST_PROGRAM (cases);
