/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzzregions.h"

#define MOST_REGIONS 40
#define PICK(bytes, list) (list)[fuzz_take_byte (bytes) % G_N_ELEMENTS (list)]

static const gchar *const labels[] = { "person", "car", "", "face", "p\303\251,=[", "roi/person" };
static const gchar *const names[] = { "detection", "rotation", "nms", "source", "object_id",
  "recorded", "roi/hint", "other" };
static const gchar *const fields[] = { "confidence", "x_min", "y_min", "x_max", "y_max", "angle",
  "label_id", "id", "region_id", "parent_id", "state", "suppressed-by", "name", "cut", "other" };
static const gchar *const texts[] = { "kept", "suppressed", "main", "left", "", "1e999" };

/* Returns a small number, half of one from a wider range, or any 32 bits. */
static gint64
take_integer (FuzzBytes *bytes)
{
  gint32 any;
  gint8 small;

  switch (fuzz_take_byte (bytes) & 3) {
    case 0:
    case 1:
      fuzz_take (bytes, &small, sizeof small);
      return small;
    case 2:
      return (gint64) fuzz_take_byte (bytes) * 16;
    default:
      fuzz_take (bytes, &any, sizeof any);
      return any;
  }
}

/* Sets a field to a value of any type, mostly of the right one. */
static void
set_field (GstStructure *s, const gchar *name, FuzzBytes *bytes)
{
  gdouble number;

  switch (fuzz_take_byte (bytes) % 12) {
    default:
      gst_structure_set (s, name, G_TYPE_DOUBLE, (gint8) fuzz_take_byte (bytes) / 64.0, NULL);
      return;
    case 1:
      fuzz_take (bytes, &number, sizeof number);
      gst_structure_set (s, name, G_TYPE_DOUBLE, number, NULL);
      return;
    case 2:
      gst_structure_set (s, name, G_TYPE_INT, (gint) take_integer (bytes), NULL);
      return;
    case 3:
      gst_structure_set (s, name, G_TYPE_STRING, PICK (bytes, texts), NULL);
      return;
    case 4:
      gst_structure_set (s, name, G_TYPE_STRING, NULL, NULL);
      return;
    case 5:
      gst_structure_set (s, name, G_TYPE_BOOLEAN, fuzz_take_byte (bytes) & 1, NULL);
      return;
    case 6:
      gst_structure_set (s, name, G_TYPE_INT64, take_integer (bytes) * 1048576, NULL);
      return;
    case 7:
      gst_structure_set (s, name, G_TYPE_UINT, (guint) take_integer (bytes), NULL);
      return;
    case 8:
      gst_structure_set (s, name, G_TYPE_FLOAT, fuzz_take_float (bytes), NULL);
      return;
    case 9:
      gst_structure_set (s, name, GST_TYPE_FRACTION, (gint) (gint8) fuzz_take_byte (bytes), 3,
          NULL);
      return;
  }
}

static GstStructure *
take_structure (FuzzBytes *bytes, gint mark)
{
  GstStructure *s = gst_structure_new (PICK (bytes, names), "mark", G_TYPE_INT, mark, NULL);
  guint count = fuzz_take_byte (bytes) % 8;

  for (guint i = 0; i < count; i++)
    set_field (s, PICK (bytes, fields), bytes);
  return s;
}

/* Adds a box as a detector writes it, from a grid of 32 x 32 small places. */
static void
add_natural (GstBuffer *buffer, FuzzBytes *bytes, gint mark)
{
  gint x = fuzz_take_byte (bytes) & 31, y = fuzz_take_byte (bytes) & 31;
  gint w = fuzz_take_byte (bytes) & 31, h = fuzz_take_byte (bytes) & 31;
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (buffer,
      PICK (bytes, labels), (guint) x, (guint) y, (guint) w, (guint) h);

  roi->id = mark + 1;
  roi->parent_id = fuzz_take_byte (bytes) % (2 * MOST_REGIONS);
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "mark", G_TYPE_INT, mark, "x_min", G_TYPE_DOUBLE, x / 64.0,
          "x_max", G_TYPE_DOUBLE, (x + w) / 64.0, "y_min", G_TYPE_DOUBLE, y / 64.0, "y_max",
          G_TYPE_DOUBLE, (y + h) / 64.0, "confidence", G_TYPE_DOUBLE, fuzz_take_byte (bytes) / 64.0,
          NULL));
}

static void
add_hostile (GstBuffer *buffer, FuzzBytes *bytes, gint mark)
{
  guint x = (guint) take_integer (bytes), y = (guint) take_integer (bytes);
  guint w = (guint) take_integer (bytes), h = (guint) take_integer (bytes);
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (buffer,
      PICK (bytes, labels), x, y, w, h);
  guint count = fuzz_take_byte (bytes) % 5;

  roi->id = (gint) take_integer (bytes);
  roi->parent_id = (gint) take_integer (bytes);
  for (guint i = 0; i < count; i++)
    gst_video_region_of_interest_meta_add_param (roi, take_structure (bytes, mark));
}

GstBuffer *
fuzz_regions_new (FuzzBytes *bytes)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 1, NULL);

  gst_buffer_memset (buffer, 0, 0, 1);
  for (gint i = 0; i < MOST_REGIONS && bytes->left > 0; i++)
    if (fuzz_take_byte (bytes) & 1)
      add_natural (buffer, bytes, i);
    else
      add_hostile (buffer, bytes, i);
  return buffer;
}

GPtrArray *
fuzz_regions_of (GstBuffer *buffer)
{
  GPtrArray *regions = g_ptr_array_new ();
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
      != NULL)
    g_ptr_array_add (regions, meta);
  return regions;
}

gboolean
fuzz_regions_is_detection (const GstVideoRegionOfInterestMeta *roi)
{
  gboolean hints = roi->params != NULL;

  for (const GList *l = roi->params; l; l = l->next)
    hints = hints && g_str_has_prefix (gst_structure_get_name (l->data), "roi/");
  return !hints;
}

const gchar *
fuzz_regions_state (const GstVideoRegionOfInterestMeta *roi, gint *suppressed_by)
{
  const GstStructure *s =
      gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) roi, "nms");

  *suppressed_by = -1;
  if (s == NULL || gst_structure_has_field (s, "mark"))
    return NULL;
  gst_structure_get_int (s, "suppressed-by", suppressed_by);
  return gst_structure_get_string (s, "state");
}

static gboolean
values_equal (const GValue *a, const GValue *b)
{
  if (b == NULL || G_VALUE_TYPE (a) != G_VALUE_TYPE (b))
    return FALSE;
  if (G_VALUE_HOLDS_DOUBLE (a) || G_VALUE_HOLDS_FLOAT (a))
    return memcmp (&a->data[0], &b->data[0],
               G_VALUE_HOLDS_DOUBLE (a) ? sizeof (gdouble) : sizeof (gfloat))
        == 0;
  return gst_value_compare (a, b) == GST_VALUE_EQUAL;
}

static gboolean
structures_equal (const GstStructure *a, const GstStructure *b)
{
  gint count = gst_structure_n_fields (a);
  gboolean equal = gst_structure_has_name (b, gst_structure_get_name (a))
      && count == gst_structure_n_fields (b);

  for (gint i = 0; i < count && equal; i++) {
    const gchar *name = gst_structure_nth_field_name (a, (guint) i);

    equal = values_equal (gst_structure_get_value (a, name), gst_structure_get_value (b, name));
  }
  return equal;
}

static const GList *
skip_tags (const GList *l, gboolean tagged)
{
  while (tagged && l != NULL && gst_structure_has_name (l->data, "nms"))
    l = l->next;
  return l;
}

gboolean
fuzz_regions_equal (const GstVideoRegionOfInterestMeta *a, const GstVideoRegionOfInterestMeta *b,
    gboolean tagged)
{
  const GList *k = skip_tags (a->params, tagged), *l = skip_tags (b->params, tagged);

  if (a->roi_type != b->roi_type || a->x != b->x || a->y != b->y || a->w != b->w || a->h != b->h
      || a->id != b->id || a->parent_id != b->parent_id)
    return FALSE;
  while (k != NULL && l != NULL && structures_equal (k->data, l->data)) {
    k = skip_tags (k->next, tagged);
    l = skip_tags (l->next, tagged);
  }
  return k == NULL && l == NULL;
}
