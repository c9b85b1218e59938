/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odboxes: buffers with GstAnalytics object detections (ODs), and the ODs that are left
 * on them. Each OD has a number in its x, because its id changes, so that an expectation
 * is a string like "1 4 7".
 */
#pragma once

#include <gst/analytics/analytics.h>

#include "gstboxes.h"

static inline GstAnalyticsRelationMeta *
relations_of (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);

  return meta ? meta : gst_buffer_add_analytics_relation_meta (buffer);
}

/* A loop over the mtds of a type in the order of their ids. */
#define EACH_MTD(buffer, type, mtd) \
  for (gpointer state_ = NULL; \
       gst_analytics_relation_meta_iterate (relations_of (buffer), &state_, type, mtd);)

/* Mtds of a type that the plugin does not know, which own memory. They are counted, so that a test
 * sees whether one leaks. */
typedef struct
{
  gchar *text;
  gint number;
} Foreign;

static gint foreign_alive = 0;

static inline gboolean
foreign_transform (GstBuffer *target, GstAnalyticsMtd *mtd, GstBuffer *buffer, GQuark type,
    gpointer data)
{
  Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);

  foreign->text = g_strdup (foreign->text);
  foreign_alive++;
  return TRUE;
}

static inline void
foreign_clear (GstBuffer *buffer, GstAnalyticsMtd *mtd)
{
  Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);

  g_free (foreign->text);
  foreign_alive--;
}

static const GstAnalyticsMtdImpl foreign_impl = { .name = "foreign",
  .mtd_meta_transform = foreign_transform,
  .mtd_meta_clear = foreign_clear };

#define FOREIGN_TYPE ((GstAnalyticsMtdType) &foreign_impl)

/* Adds a foreign mtd with this number and returns its id. */
static inline guint
add_foreign (GstBuffer *buffer, gint number)
{
  GstAnalyticsMtd mtd;
  Foreign *foreign = gst_analytics_relation_meta_add_mtd (relations_of (buffer), &foreign_impl,
      sizeof *foreign, &mtd);

  foreign->text = g_strdup_printf ("foreign %d", number);
  foreign->number = number;
  foreign_alive++;
  return mtd.id;
}

/* Returns the number of a foreign mtd, -1 if it is of another type. Fails if its memory does not
 * belong to its number. */
static inline gint
foreign_number (const GstAnalyticsMtd *mtd)
{
  const Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);
  g_autofree gchar *must = NULL;

  if (gst_analytics_mtd_get_mtd_type (mtd) != FOREIGN_TYPE)
    return -1;
  must = g_strdup_printf ("foreign %d", foreign->number);
  g_assert_cmpstr (foreign->text, ==, must);
  return foreign->number;
}

/* Fails unless these are the numbers of the foreign mtds on the buffer, in order: "7 9". */
static inline void
assert_foreign (GstBuffer *buffer, const gchar *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GstAnalyticsMtd mtd;

  EACH_MTD (buffer, FOREIGN_TYPE, &mtd)
  g_string_append_printf (text, "%s%d", text->len ? " " : "", foreign_number (&mtd));
  g_assert_cmpstr (text->str, ==, expected);
}

/* Fails if a foreign mtd exists on any buffer. GStreamer 1.24 does not clear mtds when a meta is
 * freed, so there this checks nothing. */
static inline void
assert_none_alive (void)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  if (major == 1 && minor < 26)
    g_test_message ("GStreamer 1.24 clears no mtds: %d are left", foreign_alive);
  else
    g_assert_cmpint (foreign_alive, ==, 0);
}

/* Adds an OD and returns its id. */
static inline guint
add_od (GstBuffer *buffer, const gchar *label, Rect at, gfloat confidence)
{
  GstAnalyticsODMtd od;

  g_assert_true (gst_analytics_relation_meta_add_od_mtd (relations_of (buffer),
      g_quark_from_string (label), at.x, at.y, (gint) at.w, (gint) at.h, confidence, &od));
  return od.id;
}

/* Adds a class, related to `id` in both directions with different bits. Returns its id. */
static inline guint
add_class (GstBuffer *buffer, guint id, const gchar *name, gfloat level)
{
  GstAnalyticsRelationMeta *meta = relations_of (buffer);
  GstAnalyticsClsMtd cls;

  g_assert_true (
      gst_analytics_relation_meta_add_one_cls_mtd (meta, level, g_quark_from_string (name), &cls));
  gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, id, cls.id);
  gst_analytics_relation_meta_set_relation (meta,
      GST_ANALYTICS_REL_TYPE_RELATE_TO | GST_ANALYTICS_REL_TYPE_IS_PART_OF, cls.id, id);
  return cls.id;
}

/* Adds the ODs of a text such as "dog 1,0,50,50 0.5 puppy; ship 9,9,99,10 0.9 @0.5": label, place,
 * confidence, and if they have them, rotation (from GStreamer 1.26 on) and classes. Returns the id
 * of the first one. */
static inline guint
add_ods (GstBuffer *buffer, const gchar *text)
{
  gchar **list = g_strsplit (text, "; ", -1);
  guint first = G_MAXUINT;

  for (guint i = 0; list[i]; i++) {
    gchar **words = g_strsplit (list[i], " ", -1);
    const gfloat confidence = (gfloat) g_ascii_strtod (words[2], NULL);
    gint x, y, w, h;
    guint id, k = 3;

    g_assert_cmpint (sscanf (words[1], "%d,%d,%d,%d", &x, &y, &w, &h), ==, 4);
    if (words[k] && words[k][0] == '@') {
#if GST_CHECK_VERSION(1, 26, 0)
      GstAnalyticsODMtd od;

      g_assert_true (gst_analytics_relation_meta_add_oriented_od_mtd (relations_of (buffer),
          g_quark_from_string (words[0]), x, y, w, h,
          (gfloat) g_ascii_strtod (words[k++] + 1, NULL), confidence, &od));
      id = od.id;
#else
      g_error ("GStreamer 1.24 rotates no ODs");
#endif
    } else {
      id = add_od (buffer, words[0], (Rect) { x, y, w, h }, confidence);
    }
    first = MIN (first, id);
    for (; words[k]; k++)
      add_class (buffer, id, words[k], 0.5f);
    g_strfreev (words);
  }
  g_strfreev (list);
  return first;
}

/* Returns a frame at 0 s with the ODs of this text. */
static inline GstBuffer *
frame_with_ods (const gchar *text)
{
  GstBuffer *buffer = frame_new (0);

  add_ods (buffer, text);
  return buffer;
}

/* Adds a track, related to `id`. Returns its id. */
static inline guint
add_track (GstBuffer *buffer, guint id, guint64 number)
{
  GstAnalyticsTrackingMtd track;

  gst_analytics_relation_meta_add_tracking_mtd (relations_of (buffer), number, 0, &track);
  gst_analytics_relation_meta_set_relation (relations_of (buffer), GST_ANALYTICS_REL_TYPE_RELATE_TO,
      id, track.id);
  return track.id;
}

/* Returns x of the detection before its rotation. */
static inline gint
x_of_od (const GstAnalyticsMtd *mtd)
{
  gfloat confidence;
  gint x, y, w, h;
#if GST_CHECK_VERSION(1, 26, 0)
  gfloat rotation;

  gst_analytics_od_mtd_get_oriented_location ((GstAnalyticsODMtd *) mtd, &x, &y, &w, &h, &rotation,
      &confidence);
#else
  gst_analytics_od_mtd_get_location ((GstAnalyticsODMtd *) mtd, &x, &y, &w, &h, &confidence);
#endif
  return x;
}

/* Fails unless the ODs have these x, in the order of their ids: "1 4 7". */
static inline void
assert_ods (GstBuffer *buffer, const gchar *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GstAnalyticsMtd mtd;

  if (gst_buffer_get_analytics_relation_meta (buffer))
    EACH_MTD (buffer, gst_analytics_od_mtd_get_mtd_type (), &mtd)
  g_string_append_printf (text, "%s%d", text->len ? " " : "", x_of_od (&mtd));
  g_assert_cmpstr (text->str, ==, expected);
}

static inline guint
mtds_on (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);

  g_assert_cmpuint (gst_buffer_get_n_meta (buffer, GST_ANALYTICS_RELATION_META_API_TYPE), ==, 1);
  return (guint) gst_analytics_relation_get_length (meta);
}

/* Returns the names of the classes that are related to an OD, and its tracks, with ! if they are
 * lost: "dog nms:kept #7!". Free it. */
static inline gchar *
classes_of (GstBuffer *buffer, guint id)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GString *text = g_string_new (NULL);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  while (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_ANY,
      gst_analytics_cls_mtd_get_mtd_type (), &state, &mtd))
    g_string_append_printf (text, "%s%s", text->len ? " " : "",
        g_quark_to_string (gst_analytics_cls_mtd_get_quark ((GstAnalyticsClsMtd *) &mtd, 0)));
  state = NULL;
  while (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_ANY,
      gst_analytics_tracking_mtd_get_mtd_type (), &state, &mtd)) {
    GstClockTime first, last;
    gboolean lost;
    guint64 number;

    gst_analytics_tracking_mtd_get_info ((GstAnalyticsTrackingMtd *) &mtd, &number, &first, &last,
        &lost);
    g_string_append_printf (text, "%s#%" G_GUINT64_FORMAT "%s", text->len ? " " : "", number,
        lost ? "!" : "");
  }
  return g_string_free (text, FALSE);
}

/* Returns the number of mtds, and the ODs with their ids as add_ods takes them, and with tracks:
 * "3: 0 dog 1,0,50,50 0.5 puppy #7; 2 cat 9,9,9,9 0.3". Static. */
static inline const gchar *
ods_text (GstBuffer *buffer)
{
  static GString *text = NULL;
  const gchar *separator = "";
  GstAnalyticsODMtd od;

  if (text == NULL)
    text = g_string_new (NULL);
  relations_of (buffer); /* which adds one */
  g_string_printf (text, "%u:", mtds_on (buffer));
  EACH_MTD (buffer, gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *) &od)
  {
    g_autofree gchar *classes = classes_of (buffer, od.id);
    gchar number[32];
    gfloat confidence, rotation = 0;
    gint x, y, w, h;

#if GST_CHECK_VERSION(1, 26, 0)
    gst_analytics_od_mtd_get_oriented_location (&od, &x, &y, &w, &h, &rotation, &confidence);
#else
    gst_analytics_od_mtd_get_location (&od, &x, &y, &w, &h, &confidence);
#endif
    g_string_append_printf (text, "%s %u %s %d,%d,%d,%d %s", separator, od.id,
        g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&od)), x, y, w, h,
        g_ascii_formatd (number, sizeof number, "%.6g", confidence));
    if (rotation != 0)
      g_string_append_printf (text, " @%s",
          g_ascii_formatd (number, sizeof number, "%.6g", rotation));
    if (*classes)
      g_string_append_printf (text, " %s", classes);
    separator = ";";
  }
  return text->str;
}

#define assert_ods_text(buffer, expected) g_assert_cmpstr (ods_text (buffer), ==, expected)

/* Adds relations of these types from one mtd to another. */
static inline void
relate (GstBuffer *buffer, guint from, guint to, GstAnalyticsRelTypes types)
{
  gst_analytics_relation_meta_set_relation (relations_of (buffer), types, from, to);
}

/* Returns the types of the relations from one mtd to another. */
static inline guint
types_between (GstBuffer *buffer, guint from, guint to)
{
  return gst_analytics_relation_meta_get_relation (relations_of (buffer), from, to);
}

#if GST_CHECK_VERSION(1, 26, 0)
/* Adds a mask of 8 x 8 pixels for this place, with the regions 3 and 8. Returns its id. */
static inline guint
add_mask (GstBuffer *buffer, gint x, gint y, guint w, guint h)
{
  GstBuffer *mask = gst_buffer_new_allocate (NULL, 64, NULL);
  GstAnalyticsSegmentationMtd mtd;
  guint regions[2] = { 3, 8 };

  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  g_assert_true (gst_analytics_relation_meta_add_segmentation_mtd (relations_of (buffer), mask,
      GST_SEGMENTATION_TYPE_INSTANCE, G_N_ELEMENTS (regions), regions, x, y, w, h, &mtd));
  return mtd.id;
}

/* Fails unless the masks have these places, in the order of their ids: "1,2,3,4 5,6,7,8", or if
 * anything else in one of them has changed. */
static inline void
assert_masks (GstBuffer *buffer, const gchar *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GstAnalyticsMtd mtd;

  EACH_MTD (buffer, gst_analytics_segmentation_mtd_get_mtd_type (), &mtd)
  {
    guint w, h;
    gint x, y;
    g_autoptr (GstBuffer) mask = gst_analytics_segmentation_mtd_get_mask (&mtd, &x, &y, &w, &h);

    g_assert_cmpuint (gst_buffer_get_size (mask), ==, 64);
    g_assert_nonnull (gst_buffer_get_video_meta (mask));
    g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_count (&mtd), ==, 2);
    g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_id (&mtd, 0), ==, 3);
    g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_id (&mtd, 1), ==, 8);
    g_string_append_printf (text, "%s%d,%d,%u,%u", text->len ? " " : "", x, y, w, h);
  }
  g_assert_cmpstr (text->str, ==, expected);
}
#endif

/* The ODs that most tests use: two that overlap, of which 2 suppresses 1, and one apart. */
#define THREE_ODS "dog 1,0,50,50 0.5; dog 2,0,50,50 0.9; dog 300,0,50,50 0.7"
