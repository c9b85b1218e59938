/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: loop=true, which repeats the records after their last one. */
#include "gstrunner.h"
#include "replaying.h"

static void
loop_adds_length_and_a_frame (void)
{
  static const gdouble times[] = { 1, 2, 3 };
  Replay r;

  replay_open_records (&r, times, 3, "loop=true");
  for (guint i = 1; i < 20; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, (i - 1) % 3 + 1);
  g_assert_cmpint (replay_stat (&r, "unmatched"), ==, 0);
  replay_close (&r);
  replay_open_records (&r, times, 3, "loop=true match=index");
  for (guint i = 0; i < 20; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i % 3 + 1);
  replay_close (&r);
  /* a file with one record, and one without: neither hangs */
  replay_open_records (&r, times, 1, "loop=true");
  for (guint i = 1; i < 5; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, 1);
  replay_close (&r);
  replay_open (&r, "", "loop=true");
  g_assert_cmpint (replay_x_at (&r, 0), ==, -1);
  replay_close (&r);
  replay_open (&r, "x\ny\n", "loop=true on-error=skip format=jsonl");
  g_assert_cmpint (replay_x_at (&r, 0), ==, -1);
  replay_close (&r);
}

/* Ten years later, about 10^9 passes over the file have gone by. */
#define LATE (G_GUINT64_CONSTANT (3153600000) * FRAME)

static void
loop_skips_whole_passes (void)
{
  static const gdouble times[] = { 1, 2, 3 };
  Replay r;
  guint64 i;

  for (i = LATE / FRAME; i < LATE / FRAME + 3; i++) {
    replay_open_records (&r, times, 3, "loop=true");
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, (i - 1) % 3 + 1);
    g_assert_cmpint (replay_x_at (&r, (i + 1) * FRAME), ==, i % 3 + 1);
    g_assert_cmpuint (replay_stat (&r, "unmatched"), ==, 1);
    replay_close (&r);
  }

  /* by index after a seek; lines are counted once */
  replay_open (&r,
      "{\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4}]}\nx\n"
      "{\"objects\":[{\"x\":3,\"y\":0,\"w\":4,\"h\":4}]}\n",
      "loop=true on-error=skip");
  g_assert_cmpint (replay_x_at (&r, 0), ==, 1);
  replay_flush (&r);
  replay_segment (&r, LATE, LATE);
  for (i = LATE / FRAME; i < LATE / FRAME + 4; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i % 3 == 1 ? -1 : (gint) (i % 3) + 1);
  g_assert_cmpuint (replay_stat (&r, "skipped"), ==, 1);
  g_assert_cmpuint (replay_stat (&r, "unmatched"), ==, 0);
  replay_close (&r);

  /* ground truth: the boxes that were ignored are counted once */
  replay_open (&r, "1,1,2,3,4,5,0,1,1\n3,1,3,3,4,5,1,1,1\n", "loop=true");
  g_assert_cmpint (replay_x_at (&r, 0), ==, -1);
  replay_flush (&r);
  replay_segment (&r, LATE, LATE);
  for (i = LATE / FRAME; i % 3 != 2; i++)
    replay_x_at (&r, i * FRAME);
  g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, 2);
  g_assert_cmpuint (replay_stat (&r, "ignored"), ==, 1);
  replay_close (&r);
}

/* Pushes two buffers. */
static void
replay_two (const gchar *text, const gchar *properties, GstClockTime pts, gint x[2])
{
  g_auto (Replay) r = { 0 };

  replay_open (&r, text, properties);
  x[0] = replay_x_at (&r, pts);
  x[1] = replay_x_at (&r, pts + FRAME);
  g_assert_cmpuint (replay_stat (&r, "matched"), ==, (x[0] > 0) + (x[1] > 0));
}

/* Joining a loop late gives what a file with 12 copies of its records gives. */
static void
loop_equals_copies_of_the_file (void)
{
  static const gdouble times[] = { 0.3, 1.1, 2.45 };
  g_autofree gchar *once = replay_records (times, 3);
  g_autoptr (GString) copies = g_string_new (NULL);

  for (guint i = 0; i < 12; i++) {
    const gdouble shifted[] = { times[0] + 3.15 * i, times[1] + 3.15 * i, times[2] + 3.15 * i };
    g_autofree gchar *copy = replay_records (shifted, 3);

    g_string_append (copies, copy);
  }
  for (guint quarter = 0; quarter < 4 * 35; quarter++) {
    gint looped[2], straight[2];

    replay_two (once, "loop=true", quarter * FRAME / 4, looped);
    replay_two (copies->str, "", quarter * FRAME / 4, straight);
    for (guint i = 0; i < 2; i++)
      g_assert_cmpint (looped[i], ==, straight[i]);
  }
}

static const TestCase cases[] = { CASE (loop_adds_length_and_a_frame),
  CASE (loop_skips_whole_passes), CASE (loop_equals_copies_of_the_file), { NULL } };

GST_TEST_PROGRAM (cases);
