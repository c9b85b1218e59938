/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames: makes frames of boxes, runs them and compares the results. */
#include "frames.h"

#include "accel/lazy/process.h"
#include "accel/xla/xladevice.h"
#include "nmsxla.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

void
frame_init (Frame *f, size_t count, uint32_t seed)
{
  GRand *random = g_rand_new_with_seed (seed);

  *f = (Frame) { .boxes = { .size = sizeof f->boxes, .count = count } };
  f->rows = g_new (float, 4 * count + 1);
  f->score = g_new (float, count + 1);
  for (size_t i = 0; i < count; i++) {
    float *row = &f->rows[4 * i];
    row[0] = (float) g_rand_double_range (random, 0, 600);
    row[1] = (float) g_rand_double_range (random, 0, 400);
    row[2] = row[0] + (float) g_rand_double_range (random, 10, 200);
    row[3] = row[1] + (float) g_rand_double_range (random, 10, 200);
    f->score[i] = (float) g_rand_int_range (random, 0, 50) / 50;
  }
  g_rand_free (random);
  nms_boxes_set_rows (&f->boxes, f->rows);
  f->boxes.score.data = f->score;
  nms_options_init (&f->options, sizeof f->options);
  f->options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
}

void
frame_clear (Frame *f)
{
  g_free (f->rows);
  g_free (f->score);
}

void
frame_add_engine (Frame *f, nms_context *context)
{
  nms_added_engine engine = { .size = sizeof engine };

  if (f->options.engine != NMS_ENGINE_ADDED || f->has_engine
      || (f->added_to == context && f->added_plugin == f->plugin && f->added_strict == f->strict))
    return;
  g_assert_cmpint (nms_xla_engine (f->plugin, f->strict ? NMS_XLA_STRICT : 0, &engine), ==, NMS_OK);
  g_assert_cmpint (nms_context_add_engine (context, &engine), ==, NMS_OK);
  f->added_to = context;
  f->added_plugin = f->plugin;
  f->added_strict = f->strict;
}

int
frame_run (Frame *f, nms_context *context, nms_result *result)
{
  frame_add_engine (f, context);
  return nms_run (context, &f->boxes, &f->options, result);
}

void
frame_check (Frame *f, nms_context *context)
{
  nms_result result = { .size = sizeof result };
  g_auto (RefResult) expected = { 0 };
  char *difference;
  int code = frame_run (f, context, &result);

  if (code)
    g_error ("%s: %s", nms_strerror (code), nms_context_error (context));
  ref_run (&f->boxes, &f->options, &expected);
  difference = enginecheck_difference (&result, &expected);
  g_assert_cmpstr (difference, ==, NULL);
  free (difference);
}

void
frame_fails (Frame *f, nms_context *context, int code, const char *detail)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (frame_run (f, context, &result), ==, code);
  if (!strstr (nms_context_error (context), detail))
    g_error ("\"%s\" does not say \"%s\"", nms_context_error (context), detail);
  g_assert_cmpuint (result.kept_count, ==, 0);
}

void
frame_check_closed (void)
{
  g_assert_true (nms__process_wait (60000));
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
}
