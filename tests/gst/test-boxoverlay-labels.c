/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxoverlay: labels, colours, dashes and properties. */
#include <gst/base/gstbasetransform.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "pictures.h"

#define WIDTH 320
#define HEIGHT 240

static GstVideoInfo info; /* of all frames */

/* Draws boxes on an empty frame. */
static Picture *
draw (const gchar *launch, const gchar *boxes)
{
  return overlay_boxes (launch, &info, boxes);
}

/* Draws a box with a label of any text, and what else add_boxes takes. */
static Picture *
draw_one (const gchar *launch, const gchar *label, const gchar *has)
{
  g_autofree gchar *box = g_strconcat ("0 - 40,80,100,100", *has ? " " : "", has, NULL);
  GstBuffer *buffer = boxed_buffer_new (&info, box);

  gst_buffer_get_video_region_of_interest_meta (buffer)->roi_type = g_quark_from_string (label);
  return overlay_once (launch, &info, buffer);
}

/* Returns how many pixels within x1 <= x < x2, y1 <= y < y2 have this color. */
static gint
count_rgb (const Picture *picture, gint x1, gint y1, gint x2, gint y2, guint32 rgb)
{
  gint n = 0;

  for (gint y = y1; y < y2; y++)
    for (gint x = x1; x < x2; x++)
      n += picture_rgb (picture, x, y) == rgb;
  return n;
}

/* Returns how many pixels the background of a label extends to the right in a row. */
static gint
run_length (const Picture *picture, gint x, gint y, guint32 rgb)
{
  gint n = 0;

  while (x + n < picture->width && picture_rgb (picture, x + n, y) == rgb)
    n++;
  return n;
}

/* Returns the width of the label above the box at 40, 80; 0 if there is none. The row
 * just above the outline has only background. */
static gint
label_width (const gchar *launch, const gchar *label, const gchar *has)
{
  g_autoptr (Picture) picture = draw_one (launch, label, has);
  gint n = run_length (picture, 40, 79, picture_rgb (picture, 40, 80));

  return n;
}

static void
test_parts (void)
{
  const gint label = label_width ("boxoverlay", "person", ""),
             score = label_width ("boxoverlay", "", "0.91"),
             both = label_width ("boxoverlay", "person", "0.91");

  g_assert_cmpint (label, >, 20);
  g_assert_cmpint (score, >, 12);
  g_assert_cmpint (both, >, label + 12);
  g_assert_cmpint (both, <, label + score);
  g_assert_cmpint (label_width ("boxoverlay", "person", "0.91 #12"), >, both + 8);
  g_assert_cmpint (label_width ("boxoverlay", "", ""), ==, 0);
  g_assert_cmpint (label_width ("boxoverlay", "", "#7"), >, 5);
  g_assert_cmpint (label_width ("boxoverlay show-score=false", "person", "0.91"), ==, label);
  g_assert_cmpint (label_width ("boxoverlay show-label=false", "person", "0.91 #3"), ==, score);
  g_assert_cmpint (label_width (OUTLINES, "person", "0.91 #3"), ==, 0);
}

static gdouble
luminance (guint32 rgb)
{
  gdouble sum = 0, weight[] = { 0.0722, 0.7152, 0.2126 };

  for (guint i = 0; i < 3; i++, rgb >>= 8) {
    gdouble v = (rgb & 255) / 255.0;

    sum += weight[i] * (v <= 0.04045 ? v / 12.92 : pow ((v + 0.055) / 1.055, 2.4));
  }
  return sum;
}

/* The text is black, on a background of the colour of the outline. WCAG requires a contrast of 4.5
 * for text. */
static void
test_contrast (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < 100; i++) {
    g_autofree gchar *label = g_strdup_printf ("class %u", i);
    g_autoptr (Picture)
        picture = draw_one ("boxoverlay font-desc=\"Sans Bold 20px\"", label, "0.91");
    const guint32 rgb = picture_rgb (picture, 40, 80);
    const gint width = run_length (picture, 40, 79, rgb);
    const gint black = count_rgb (picture, 40, 60, 40 + width, 80, 0x000000);

    g_assert_cmpint (black, >, 100);
    g_assert_cmpint (black, <, 10 * width);
    g_assert_cmpfloat ((luminance (rgb) + 0.05) / 0.05, >=, 4.5);
    g_hash_table_add (seen, GUINT_TO_POINTER (rgb));
  }
  g_assert_cmpuint (g_hash_table_size (seen), >=, 45); /* 100 draws of 72 colours give 54 */
}

/* A score drawn as a score and as a class name gives the same picture, in every locale. So does a
 * text that is composed of its characters, because digits have no kerning, and one that pango
 * renders as a whole, because of its line break, which is shown as a space. All are grey. */
static void
test_scores (void)
{
  static const gchar *const rows[][3] = { { "0.91", "", "0.91" }, { "0.9149", "", "0.91" },
    { "1.0", "", "1.00" }, { "0.0", "", "0.00" }, { "-0.001", "", "0.00" }, { "0.999", "", "1.00" },
    { "12.5", "", "12.50" }, { "-3.25", "", "-3.25" }, { "1e9", "", "1e+09" }, { "inf", "", "inf" },
    { "", "0.91 ", "0.91\n" }, { "", "#12345 ", "#12345\n" }, { "", "-67 ", "-67\n" },
    { "", "8 8 ", "8 8\n" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *has = g_strchug (g_strconcat (rows[i][0], " tagged suppressed", NULL));

    picture_assert_same (draw_one ("boxoverlay", rows[i][1], has),
        draw_one ("boxoverlay", rows[i][2], "tagged suppressed"));
  }
}

/* Returns how many pixels outside of the box of draw_one have this color. */
static gint
count_outside (const Picture *picture, guint32 rgb)
{
  return count_rgb (picture, 0, 0, WIDTH, HEIGHT, rgb) - count_rgb (picture, 40, 80, 140, 180, rgb);
}

/* Two equal boxes show both labels; that of the better box is above. */
static void
test_apart (void)
{
  g_autoptr (Picture) person = draw_one ("boxoverlay", "person", "0.9");
  g_autoptr (Picture) car = draw_one ("boxoverlay", "car", "0.5");
  g_autoptr (Picture)
      both = draw ("boxoverlay", "0 car 40,80,100,100 0.50; 0 person 40,80,100,100 0.90");
  const guint32 rgb = picture_rgb (car, 40, 80);

  g_assert_cmpuint (picture_changed (person, both, 40, 60, 100, 80), ==, 0);
  g_assert_cmpint (count_outside (car, rgb), >, 300);
  g_assert_cmpint (count_outside (both, rgb), ==, count_outside (car, rgb));
}

typedef struct
{
  const gchar *name, *launch, *boxes;
  const gchar *found; /* see picture_expect */
} Drawn;

static void
run_drawn (gconstpointer data)
{
  const Drawn *row = data;

  picture_expect (draw (row->launch, row->boxes), picture_blank (&info), row->found);
}

#define TRACKS \
  "0 person 10,100,40,40 #1; 0 person 80,100,40,40 #2; 0 car 150,100,40,40 #1; " \
  "0 person 220,100,40,40"

static const Drawn drawn[] = {
  { "label in the box at the top", "boxoverlay", "0 person 40,4,200,100 0.91",
      "0,0,320,4:0 44,8,100,14:336" },
  { "label above the box", "boxoverlay", "0 person 40,104,200,100 0.91",
      "40,92,100,104:720 42,106,238,200:0" },
  /* the stem of a letter ends at the baseline */
  { "baseline", "boxoverlay font-desc=\"Sans Bold 20px\"", "0 H 40,80,100,100 tagged suppressed",
      "48,74=000000 48,75=b4b4b4" },
  { "colors", "boxoverlay",
      "0 person 10,100,40,40; 0 car 80,100,40,40; 0 face 150,100,40,40; 0 truck 220,100,40,40",
      "10,120=ff6a95 80,120=7f74ff 150,120=09ddf2 220,120=e88c03" },
  { "color-by class", "boxoverlay color-by=class", TRACKS,
      "10,120=ff6a95 80,120=ff6a95 150,120=7f74ff 220,120=ff6a95" },
  { "color-by track", "boxoverlay color-by=track", TRACKS,
      "10,120=ad8604 80,120=ff2628 150,120=ad8604 220,120=ff6a95" },
  { "kept", "boxoverlay", "0 person 40,80,120,100 0.9 tagged kept",
      "40,178,160,180:240 40,80=ff6a95" },
  { "a score that is no number is the lowest", OUTLINES,
      "0 person 40,80,120,100 -5; 0 car 40,80,120,100 nan", "40,80=ff6a95" },
  /* 10 dashes of 6 pixels, 9 gaps and a rest */
  { "dashes", "boxoverlay thickness=2", "0 person 40,80,120,100 tagged suppressed",
      "40,80=b4b4b4 40,178,156,180:120 45,178,46,179:1 46,178,52,180:0 52,178,53,179:1" },
  { NULL },
};

/* All states but kept are drawn in the same way. */
static void
test_dropped (void)
{
  static const gchar *const states[] = { "below-score", "not-candidate", "over-cap",
    "too-few-neighbors", "no-score", "invalid", "too-small", "too-large", "wrong-aspect-ratio",
    "outside-roi", "dropped-class", "cut-by-edge", "unconfirmed" };

  for (guint i = 0; i < G_N_ELEMENTS (states); i++) {
    g_autofree gchar *box = g_strconcat ("0 person 40,80,120,100 tagged ", states[i], NULL);

    picture_assert_same (draw ("boxoverlay", "0 person 40,80,120,100 tagged suppressed"),
        draw ("boxoverlay", box));
  }
}

/* Kept boxes are drawn above dropped ones, in any order of the metas. */
static void
test_dropped_below (void)
{
  picture_assert_same (draw (OUTLINES, "0 person 40,80,120,100 0.9 tagged kept"),
      draw (OUTLINES,
          "0 person 40,80,120,100 0.9 tagged kept; 0 person 40,80,120,100 0.8 tagged suppressed"));
}

/* The label of a dropped box is visible, and does not cover the outline of a kept box. */
static void
test_dropped_labels (void)
{
  g_autoptr (Picture) before = picture_blank (&info);
  g_autoptr (Picture) kept = draw ("boxoverlay", "0 person 40,80,140,100 0.9 tagged kept");
  g_autoptr (Picture) both = draw ("boxoverlay",
      "0 person 60,90,110,60 0.8 tagged suppressed; 0 person 40,80,140,100 0.9 tagged kept");

  g_assert_cmpuint (picture_changed (kept, both, 40, 80, 180, 82), ==, 0);
  g_assert_cmpuint (picture_changed (kept, both, 178, 80, 180, 180), ==, 0);
  /* below the box, from its left end */
  g_assert_cmpuint (picture_changed (before, both, 60, 150, 108, 162), ==, 48 * 12);
}

static void
test_any_label (void)
{
  g_autofree gchar *endless = g_strnfill (1024 * 1024, 'x'), *stacked = g_strnfill (3000, 'e');
  const gchar *labels[] = { "\xff\xfe\xc3", "caf\xe9", "<b>&amp;</", "two\nlines\ttab\x01\x7f",
    "\xe4\xba\xba \xd8\xb9\xd8\xb1\xd8\xa8\xd9\x8a \xf0\x9f\x98\x80", "  ", "%s%n", endless,
    stacked, "\xed\xa0\x80",
    "\xe2\x80\xae"
    "rtl",
    "\xcc\x81\xcc\x81\xcc\x81\xcc\x81" };
  gint width;

  for (gsize i = 1; i + 1 < 3000; i += 2)
    memcpy (stacked + i, "\xcc\x81", 2);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    g_assert_cmpint (label_width ("boxoverlay", labels[i], "0.5"), >, 0);
  /* A label is cut at half of the frame width, before its score. */
  width = label_width ("boxoverlay", endless, "");
  g_assert_cmpint (width, >, WIDTH / 2 - 15);
  g_assert_cmpint (width, <, WIDTH / 2 + 15);
  g_assert_cmpint (label_width ("boxoverlay", endless, "0.5"), >, width + 12);
}

static void
test_any_font (void)
{
  static const gchar *const fonts[] = { "", "No Such Family 12", "Sans 0", "Sans -4", "Sans 100000",
    "12", "\xff\xfe", "Sans Bold Italic Condensed 9.5", ",,,", "Monospace 20px" };
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
  g_autoptr (Picture) before = picture_blank (&info);

  for (guint i = 0; i < G_N_ELEMENTS (fonts); i++) {
    g_autoptr (Picture) picture = NULL;

    g_object_set (h->element, "font-desc", fonts[i], NULL);
    picture = overlay_draw (h, &info, boxed_buffer_new (&info, "0 person 40,120,100,100 0.9"));
    g_assert_cmpuint (picture_changed (before, picture, 40, 0, WIDTH, 120), >, 150);
  }
}

static void
test_font_sizes (void)
{
  gint small = label_width ("boxoverlay font-desc=\"Sans 10px\"", "person", "");
  gint large = label_width ("boxoverlay font-desc=\"Sans 20px\"", "person", "");
  gint points = label_width ("boxoverlay font-desc=\"Sans 15\"", "person", "");

  g_assert_cmpint (large, >, small * 3 / 2);
  g_assert_cmpint (ABS (points - large), <=, 2);
}

static void
test_properties (void)
{
  g_autoptr (GstElement) element = element_new ("boxoverlay");

  assert_values (element, "thickness show-label show-score color-by font-desc",
      "2 true true class Sans Bold");
  g_object_set (element, "font-desc", NULL, "color-by", 1, "thickness", 64, NULL);
  assert_values (element, "thickness color-by font-desc", "64 track Sans Bold");
  g_assert_false (gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (element)));
}

/* Properties change while playing. */
static void
test_playing (void)
{
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
  static const gchar *const launch[] = { "boxoverlay thickness=9",
    "boxoverlay thickness=9 show-label=false",
    "boxoverlay thickness=9 show-label=false show-score=false",
    "boxoverlay thickness=9 show-label=false show-score=false color-by=track" };

  for (guint i = 0; i < G_N_ELEMENTS (launch); i++) {
    g_object_set (h->element, "thickness", 9, "show-label", i < 1, "show-score", i < 2, "color-by",
        i == 3, NULL);
    picture_assert_same (draw (launch[i], "0 person 40,80,100,100 0.9 #5"),
        overlay_draw (h, &info, boxed_buffer_new (&info, "0 person 40,80,100,100 0.9 #5")));
  }
}

/* A control source works in stream time: the segment begins at 10 s. */
static void
test_controlled (void)
{
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay show-label=false", &info);
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  g_autoptr (Picture) before = picture_blank (&info);

  gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (h->element), "thickness", source));
  gst_timed_value_control_source_set (values, 0, 1.0);
  gst_timed_value_control_source_set (values, 10 * GST_SECOND, 11.0);
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  push_segment (h, 10 * GST_SECOND, 0);
  for (gint second = 0; second < 10; second++) {
    GstBuffer *buffer = boxed_buffer_new (&info, "0 person 40,80,100,100");
    const gint hole = 100 - 2 * (1 + second);
    g_autoptr (Picture) picture = NULL;

    GST_BUFFER_PTS (buffer) = (GstClockTime) (10 + second) * GST_SECOND;
    picture = overlay_draw (h, &info, buffer);
    g_assert_cmpuint (picture_all_changed (before, picture), ==, 100 * 100 - hole * hole);
  }
}

#define ROUNDS 20

/* Draws the same label with another score and track in each round. */
static gpointer
draw_many (gpointer label)
{
  Picture **pictures = g_new (Picture *, ROUNDS);

  for (guint i = 0; i < ROUNDS; i++) {
    g_autofree gchar *has = g_strdup_printf ("0.%02u #%u", i, i + 1);

    pictures[i] = draw_one ("boxoverlay", label, has);
  }
  return pictures;
}

/* Each stream renders its own texts, as it does alone; the library below shares fonts. */
static void
test_threads (void)
{
  static const gchar *const labels[] = { "person", "\xe4\xba\xba person", "traffic light",
    "caf\xe9" };
  GThread *threads[8];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("stream", draw_many, (gpointer) labels[i % 4]);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    Picture **pictures = g_thread_join (threads[i]);
    Picture **expected = draw_many ((gpointer) labels[i % 4]);

    for (guint k = 0; k < ROUNDS; k++)
      picture_assert_same (expected[k], pictures[k]);
    g_free (expected);
    g_free (pictures);
  }
}

/* Pango logs a warning for bad text and bad fonts, which must not end the test. */
static const char *
start (const char *needs)
{
  g_log_set_handler ("Pango", G_LOG_LEVEL_WARNING, g_log_default_handler, NULL);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL);
  info = video_info_of (GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT);
  return start_gst (needs);
}

static const TestCase cases[] = { CASE (test_parts), CASE (test_contrast), CASE (test_scores),
  TEST_ROWS ("/drawn/%s", run_drawn, drawn), CASE (test_apart), CASE (test_dropped),
  CASE (test_dropped_below), CASE (test_dropped_labels), CASE (test_any_label),
  CASE (test_any_font), CASE (test_font_sizes), CASE (test_properties), CASE (test_playing),
  CASE (test_controlled), CASE (test_threads), { NULL } };

TEST_PROGRAM (cases, start, gst_deinit);
