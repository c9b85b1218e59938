/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxreplay: loop=true, which repeats the records after their last one. */
#include "gstrunner.h"
#include "replaying.h"

static void
loop_adds_length_and_a_frame (void)
{
  replay_check ("1 2 3", "loop=true",
      "1:1 2:2 3:3 4:1 5:2 6:3 7:1 8:2 9:3 10:1 11:2 12:3 13:1 14:2 15:3 unmatched=0");
  replay_check ("1 2 3", "loop=true match=index", "0:1 1:2 2:3 3:1 4:2 5:3 6:1 7:2 8:3 9:1 10:2");
  /* a file with one record, and one without: neither hangs */
  replay_check ("1", "loop=true", "1:1 2:1 3:1 4:1");
  replay_check ("", "loop=true", "0:-");
  replay_check ("x\ny\n", "loop=true on-error=skip format=jsonl", "0:-");
}

/* Ten years later, about 10^9 passes over the file have gone by. */
#define LATE (G_GUINT64_CONSTANT (3153600000) * FRAME)

static void
loop_skips_whole_passes (void)
{
  Replay r;
  guint64 i;

  for (i = LATE / FRAME; i < LATE / FRAME + 3; i++) {
    replay_open_records (&r, "1 2 3", "loop=true");
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, (i - 1) % 3 + 1);
    g_assert_cmpint (replay_x_at (&r, (i + 1) * FRAME), ==, i % 3 + 1);
    g_assert_cmpuint (stat_of (r.h->element, "unmatched"), ==, 1);
    replay_close (&r);
  }

  /* by index after a seek; lines are counted once */
  replay_open (&r,
      "{\"objects\":[{\"x\":1,\"y\":0,\"w\":4,\"h\":4}]}\nx\n"
      "{\"objects\":[{\"x\":3,\"y\":0,\"w\":4,\"h\":4}]}\n",
      "loop=true on-error=skip");
  replay_play (&r, "0:1 flush");
  push_segment (r.h, LATE, LATE);
  for (i = LATE / FRAME; i < LATE / FRAME + 4; i++)
    g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, i % 3 == 1 ? -1 : (gint) (i % 3) + 1);
  replay_play (&r, "skipped=1 unmatched=0");
  replay_close (&r);

  /* ground truth: the boxes that were ignored are counted once */
  replay_open (&r, "1,1,2,3,4,5,0,1,1\n3,1,3,3,4,5,1,1,1\n", "loop=true");
  replay_play (&r, "0:- flush");
  push_segment (r.h, LATE, LATE);
  for (i = LATE / FRAME; i % 3 != 2; i++)
    replay_x_at (&r, i * FRAME);
  g_assert_cmpint (replay_x_at (&r, i * FRAME), ==, 2);
  g_assert_cmpuint (stat_of (r.h->element, "ignored"), ==, 1);
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
  g_assert_cmpuint (stat_of (r.h->element, "matched"), ==, (x[0] > 0) + (x[1] > 0));
}

/* Joining a loop late gives what a file with 12 copies of its records gives. */
static void
loop_equals_copies_of_the_file (void)
{
  g_autofree gchar *once = replay_records ("0.3 1.1 2.45");
  g_autoptr (GString) copies = g_string_new (NULL);

  for (guint i = 0; i < 12; i++) {
    const guint start = 315 * i; /* in hundredths, because a locale may print a comma */
    const guint at[] = { start + 30, start + 110, start + 245 };
    g_autofree gchar *times = g_strdup_printf ("%u.%02u %u.%02u %u.%02u", at[0] / 100, at[0] % 100,
        at[1] / 100, at[1] % 100, at[2] / 100, at[2] % 100);
    g_autofree gchar *copy = replay_records (times);

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
