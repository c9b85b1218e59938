/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames: makes frames of boxes, runs them and compares the results. */
#include "frames.h"

#include "accel/lazy/process.h"
#include "accel/xla/xladevice.h"
#include "nmsxla.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void
frame_init (Frame *f, size_t count, const char *plugin, int strict)
{
  *f = (Frame) { .ctx = nms_context_new (), .boxes = { .size = sizeof f->boxes } };
  nms_options_init (&f->options, sizeof f->options);
  f->options.engine = NMS_ENGINE_ADDED;
  f->options.outputs = ENGINECHECK_OUTCOMES;
  frame_use (f, plugin, strict);
  frame_fill (f, count);
}

void
frame_clear (Frame *f)
{
  nms_context_free (&f->ctx);
  g_clear_pointer (&f->rows, g_free);
  g_clear_pointer (&f->score, g_free);
}

void
frame_close (Frame *f)
{
  frame_clear (f);
  frame_check_closed ();
}

void
frame_fill (Frame *f, size_t count)
{
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) count);

  f->boxes.count = count;
  f->rows = g_renew (float, f->rows, 4 * count + 1);
  f->score = g_renew (float, f->score, count + 1);
  for (size_t i = 0; i < count; i++) {
    float *row = &f->rows[4 * i];
    row[0] = (float) g_rand_double_range (random, 0, 600);
    row[1] = (float) g_rand_double_range (random, 0, 400);
    row[2] = row[0] + (float) g_rand_double_range (random, 10, 200);
    row[3] = row[1] + (float) g_rand_double_range (random, 10, 200);
    f->score[i] = (float) g_rand_int_range (random, 0, 50) / 50;
  }
  nms_boxes_set_rows (&f->boxes, f->rows);
  f->boxes.score.data = f->score;
}

void
frame_use (Frame *f, const char *plugin, int strict)
{
  nms_added_engine engine = { .size = sizeof engine };

  g_assert_cmpint (nms_xla_engine (plugin, strict ? NMS_XLA_STRICT : 0, &engine), ==, NMS_OK);
  g_assert_cmpint (nms_context_add_engine (f->ctx, &engine), ==, NMS_OK);
  f->strict = strict;
}

void
frame_check (Frame *f)
{
  nms_result result = { .size = sizeof result };
  g_auto (RefResult) expected = { 0 };
  char *difference;
  int code = nms_run (f->ctx, &f->boxes, &f->options, &result);

  if (code)
    g_error ("%s: %s", nms_strerror (code), nms_context_error (f->ctx));
  ref_run (&f->boxes, &f->options, &expected);
  difference = enginecheck_difference (&result, &expected, ENGINECHECK_OUTCOMES);
  g_assert_cmpstr (difference, ==, NULL);
}

void
frame_fails (Frame *f, int code, const char *detail)
{
  nms_result result = { .size = sizeof result };

  g_assert_cmpint (nms_run (f->ctx, &f->boxes, &f->options, &result), ==, code);
  if (!strstr (nms_context_error (f->ctx), detail))
    g_error ("\"%s\" does not say \"%s\"", nms_context_error (f->ctx), detail);
  g_assert_cmpuint (result.kept_count, ==, 0);
}

void
frame_check_closed (void)
{
  g_assert_true (nms__process_wait (60000));
  g_assert_cmpuint (nms__xla_device_count (), ==, 0);
}

void
frame_fork (void (*run) (void *data), void *data)
{
  const pid_t child = fork ();
  int status;

  if (!child) {
    alarm (60);
    run (data);
    /* another program, because valgrind would report what the parent's threads have allocated */
    execl ("/bin/true", "true", NULL);
    _exit (1);
  }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}
