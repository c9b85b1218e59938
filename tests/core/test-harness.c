/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks enginecheck_difference, on which all other tests rely: a right result that is
 * changed in one place must give a difference.
 */
#include "describe.h"
#include "enginecheck.h"
#include "handrows.h"
#include "scoped.h"
#include "testrunner.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  HandCall call;
  RefResult expected;
  nms_result result;
  int32_t kept[HANDROW_BOXES];
  uint8_t outcome[HANDROW_BOXES];
  int32_t suppressed_by[HANDROW_BOXES];
} Fixture;

/* "suppressed while the cap was open, over-cap after": K S0 K O O */
static const char row_name[] = "suppressed while the cap was open, over-cap after";

static void
set_up (Fixture *f)
{
  const HandRow *row = handrows;

  while (row->name && strcmp (row->name, row_name) != 0)
    row++;
  g_assert_nonnull (row->name);
  handrow_call (row, &f->call);
  ref_run (&f->call.boxes, &f->call.options, &f->expected);
  g_assert_cmpuint (f->expected.count, ==, 5);
  g_assert_cmpuint (f->expected.kept_count, ==, 2);
  memcpy (f->kept, f->expected.kept, 2 * sizeof *f->kept);
  memcpy (f->outcome, f->expected.outcome, 5);
  memcpy (f->suppressed_by, f->expected.suppressed_by, 5 * sizeof *f->suppressed_by);
  f->result = (nms_result) { .size = sizeof f->result,
    .kept_count = 2,
    .suppressed_count = 1,
    .over_cap_count = 2,
    .kept = f->kept,
    .outcome = f->outcome,
    .suppressed_by = f->suppressed_by };
}

static void
tear_down (Fixture *f)
{
  ref_result_clear (&f->expected);
}

static void
must_pass (Fixture *f)
{
  g_assert_cmpstr (enginecheck_difference (&f->result, &f->expected), ==, NULL);
}

static void
must_differ (Fixture *f, const char *where)
{
  char *difference = enginecheck_difference (&f->result, &f->expected);

  g_assert_nonnull (difference);
  if (!strstr (difference, where))
    g_error ("'%s' does not speak of %s", difference, where);
  free (difference);
}

static void
test_counts (Fixture *f)
{
  size_t *counts[] = { &f->result.kept_count, &f->result.suppressed_count,
    &f->result.over_cap_count, &f->result.filtered_count, &f->result.invalid_count,
    &f->result.not_candidate_count };
  static const char *const names[] = { "kept_count", "suppressed_count", "over_cap_count",
    "filtered_count", "invalid_count", "not_candidate_count" };

  must_pass (f);
  for (size_t i = 0; i < G_N_ELEMENTS (counts); i++) {
    ++*counts[i];
    must_differ (f, names[i]);
    --*counts[i];
  }
  f->result.size++;
  must_differ (f, "size");
  f->result.size--;
  must_pass (f);
}

static void
test_kept (Fixture *f)
{
  must_pass (f);
  f->kept[0] = 2; /* two kept boxes exchanged */
  f->kept[1] = 0;
  must_differ (f, "kept[0]");
  f->kept[0] = 0;
  must_differ (f, "kept[1]");
  f->kept[1] = 3;
  must_differ (f, "kept[1]");
  f->kept[1] = 2;
  must_pass (f);
}

static void
test_outcome (Fixture *f)
{
  must_pass (f);
  for (size_t i = 0; i < 5; i++)
    for (uint8_t other = 0; other < 6; other++) {
      uint8_t right = f->outcome[i];
      if (other == right)
        continue;
      g_autofree char *where = g_strdup_printf ("outcome[%zu]", i);
      f->outcome[i] = other;
      must_differ (f, where);
      f->outcome[i] = right;
    }
  must_pass (f);
  f->result.outcome = NULL;
  must_differ (f, "outcome");
}

static void
test_suppressed_by (Fixture *f)
{
  must_pass (f);
  f->suppressed_by[1] = 2;
  must_differ (f, "suppressed_by[1]");
  f->suppressed_by[1] = -1;
  must_differ (f, "suppressed_by[1]");
  f->suppressed_by[1] = 0;
  f->suppressed_by[4] = 0;
  must_differ (f, "suppressed_by[4]");
  f->suppressed_by[4] = -1;
  must_pass (f);
  f->result.suppressed_by = NULL;
  must_differ (f, "suppressed_by");
}

/* An output that was not asked for is a difference too. */
static void
test_outputs (Fixture *f)
{
  char *difference = enginecheck_difference_of (&f->result, &f->expected, 0);

  g_assert_nonnull (difference);
  free (difference);
  f->result.outcome = NULL;
  f->result.suppressed_by = NULL;
  g_assert_cmpstr (enginecheck_difference_of (&f->result, &f->expected, 0), ==, NULL);
}

/* Runs nms_run on other boxes than the reference, which must give a difference. */
static void
test_run (Fixture *f)
{
  g_autoptr (nms_context) context = nms_context_new ();
  nms_result result = { .size = sizeof result };
  char *difference;

  g_assert_cmpstr (enginecheck_run (context, &f->call.boxes, &f->call.options, ENGINECHECK_FULL),
      ==, NULL);
  f->call.rows[2].score = 0.85f; /* before box 1: it is kept while box 1 ... */
  f->call.rows[3].score = 0.95f; /* ... and this one takes box 0's place */
  g_assert_cmpint (nms_run (context, &f->call.boxes, &f->call.options, &result), ==, NMS_OK);
  difference = enginecheck_difference (&result, &f->expected);
  g_assert_nonnull (difference);
  free (difference);
}

static const struct {
  const char *name;
  void (*check) (Fixture *f);
} checks[] = { { "counts", test_counts }, { "kept", test_kept }, { "outcome", test_outcome },
  { "suppressed-by", test_suppressed_by }, { "outputs", test_outputs }, { "run", test_run },
  { NULL } };

static void
test_check (gconstpointer row)
{
  Fixture f;

  set_up (&f);
  ((const typeof (*checks) *) row)->check (&f);
  tear_down (&f);
}

static const TestCase cases[] = { TEST_ROWS ("/harness/%s", test_check, checks),

  { NULL } };

TEST_PROGRAM (cases);
