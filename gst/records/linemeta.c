/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "linemeta.h"

#include <gst/video/video.h>

#define NAME "NmsBoxLineMeta"
#define FIELD "line"

static gboolean
has_same_size (const GstVideoMetaTransform *scale)
{
  return GST_VIDEO_INFO_WIDTH (scale->in_info) == GST_VIDEO_INFO_WIDTH (scale->out_info)
      && GST_VIDEO_INFO_HEIGHT (scale->in_info) == GST_VIDEO_INFO_HEIGHT (scale->out_info);
}

/* Copies the line to another buffer, unless the frame's geometry changes. */
static gboolean
transform (GstBuffer *to, GstCustomMeta *meta, GstBuffer *from, GQuark type, gpointer data,
    gpointer user_data)
{
  const gchar *line = gst_structure_get_string (gst_custom_meta_get_structure (meta), FIELD);

  if (line == NULL
      || !(GST_META_TRANSFORM_IS_COPY (type)
          || (GST_VIDEO_META_TRANSFORM_IS_SCALE (type) && has_same_size (data))))
    return FALSE;
  line_meta_set (to, line);
  return TRUE;
}

void
line_meta_register (void)
{
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
    GST_META_TAG_VIDEO_SIZE_STR, NULL };
  static gsize registered;

  if (g_once_init_enter (&registered)) {
    gst_meta_register_custom (NAME, tags, transform, NULL, NULL);
    g_once_init_leave (&registered, 1);
  }
}

void
line_meta_set (GstBuffer *buffer, const gchar *line)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, NAME);

  if (meta == NULL)
    meta = gst_buffer_add_custom_meta (buffer, NAME);
  gst_structure_set (gst_custom_meta_get_structure (meta), FIELD, G_TYPE_STRING, line, NULL);
}

const gchar *
line_meta_get (GstBuffer *buffer)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, NAME);

  return meta ? gst_structure_get_string (gst_custom_meta_get_structure (meta), FIELD) : NULL;
}

void
line_meta_remove (GstBuffer *buffer)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, NAME);

  if (meta)
    gst_buffer_remove_meta (buffer, &meta->meta);
}
