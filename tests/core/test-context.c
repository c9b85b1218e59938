/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates, uses, trims and frees contexts, and checks what a context and the library
 * report. */
#include "enginecheck.h"
#include "scoped.h"
#include "testrunner.h"

#include <limits.h>

static void
test_life (void)
{
  nms_context *context = nms_context_new (), *none = NULL;

  g_assert_nonnull (context);
  g_assert_cmpuint (nms_context_scratch (context), ==, 0);
  g_assert_cmpstr (nms_context_error (context), ==, "");
  g_assert_cmpint (nms_context_engine (context), ==, NMS_ENGINE_AUTO);
  nms_context_trim (context); /* before the first run */
  nms_context_free (&context);
  g_assert_null (context);
  nms_context_free (&context);
  nms_context_free (&none);
  nms_context_free (NULL);
  nms_context_trim (NULL);
  g_assert_cmpuint (nms_context_scratch (NULL), ==, 0);
}

/* nms_context_engine_in_use names the engine and instruction set of the last call that succeeded:
 * neither nms_context_set_isa nor a call that fails changes it. */
static void
test_engine_in_use (void)
{
  static const float corners[4] = { 0, 0, 4, 4 };
  g_autoptr (nms_context) context = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes, .count = 1 };
  nms_result result = { .size = sizeof result };
  uint32_t neighbors;
  g_autofree char *before = NULL;

  nms_boxes_set_rows (&boxes, corners);
  g_assert_cmpint (nms_context_set_isa (context, "scalar"), ==, NMS_OK);
  g_assert_cmpstr (nms_context_engine_in_use (context), ==, "");
  g_assert_cmpint (nms_context_set_isa (context, NULL), ==, NMS_OK);
  g_assert_cmpint (nms_run (context, &boxes, NULL, &result), ==, NMS_OK);
  before = g_strdup (nms_context_engine_in_use (context));
  g_assert_true (g_str_has_suffix (before, nms_context_isa (context)));

  g_assert_cmpint (nms_context_set_isa (context, "scalar"), ==, NMS_OK);
  g_assert_cmpstr (nms_context_engine_in_use (context), ==, before);
  g_assert_cmpint (nms_count_neighbors (context, &boxes, NULL, &neighbors), ==, NMS_OK);
  g_assert_cmpint (nms_context_reserve (context, 5000, 0), ==, NMS_OK);
  g_assert_cmpint (nms_run (context, NULL, NULL, &result), ==, NMS_ERROR_ARGUMENT);
  g_assert_cmpstr (nms_context_engine_in_use (context), ==, before);
  g_assert_cmpint (nms_run (context, &boxes, NULL, &result), ==, NMS_OK);
  g_assert_true (g_str_has_suffix (nms_context_engine_in_use (context), "/scalar"));
}

static void
test_names (void)
{
  static const char *const names[] = { "auto", "sequential", "sorted", "spatial", "added" };

  /* enginecheck_engines lists the same engines */
  for (size_t e = 0; e < G_N_ELEMENTS (names); e++)
    g_assert_cmpstr (nms_engine_name ((int) enginecheck_engines[e]), ==, names[e]);
  for (int i = 0, known = 0; i < 300; i++) {
    known += nms_engine_name (i) != NULL;
    g_assert_cmpint (known, <=, G_N_ELEMENTS (names));
  }
  g_assert_null (nms_engine_name (-1));
  g_assert_null (nms_engine_name (INT_MAX));
  g_assert_null (nms_engine_name (INT_MIN));
}

/* The choice of engine auto depends on the frame, not on the context. */
static void
test_same_engine_in_each_context (void)
{
  for (size_t count = 600; count <= 3000; count += 40) {
    BoxRandom random = { count };
    g_auto (BoxCall) call = { 0 };
    int engine = -1;
    boxcall_random (&call, &random, BOXGEN_UNIFORM, count);
    for (int i = 0; i < 8; i++) {
      g_autoptr (nms_context) context = nms_context_new ();
      nms_result result = { .size = sizeof result };
      g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
      g_assert_true (engine == -1 || engine == nms_context_engine (context));
      engine = nms_context_engine (context);
    }
  }
}

/* Auto chooses the same engine for boxes of one class as for boxes without classes. */
static void
test_one_class (void)
{
  static int32_t class_ids[3000];
  g_autoptr (nms_context) context = nms_context_new ();

  for (size_t count = 40; count <= G_N_ELEMENTS (class_ids); count += 200) {
    BoxRandom random = { count };
    g_auto (BoxCall) call = { 0 };
    int engines[2];
    boxcall_random (&call, &random, BOXGEN_UNIFORM, count);
    nms_options_init (&call.options, sizeof call.options);
    call.options.max_detections = count / 6;
    for (int i = 0; i < 2; i++) {
      nms_result result = { .size = sizeof result };
      call.boxes.class_id.data = i ? class_ids : NULL;
      g_assert_cmpint (nms_run (context, &call.boxes, &call.options, &result), ==, NMS_OK);
      engines[i] = nms_context_engine (context);
    }
    g_assert_cmpint (engines[1], ==, engines[0]);
  }
}

static void
test_version (void)
{
  g_assert_cmpint (nms_version (), ==, NMS_VERSION_NUMBER);
  g_assert_cmpint (NMS_VERSION_NUMBER, ==,
      NMS_VERSION_MAJOR * 1000000 + NMS_VERSION_MINOR * 1000 + NMS_VERSION_MICRO);
  g_autofree char *text = g_strdup_printf ("%d.%d.%d", NMS_VERSION_MAJOR, NMS_VERSION_MINOR,
      NMS_VERSION_MICRO);
  g_assert_cmpstr (text, ==, PROJECT_VERSION);
}

static const TestCase cases[] = { CASE (test_life), CASE (test_engine_in_use), CASE (test_names),
  CASE (test_same_engine_in_each_context), CASE (test_one_class), CASE (test_version), { NULL } };

TEST_PROGRAM (cases);
