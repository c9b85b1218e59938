/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* framelength: parses when a property is set, and multiplies once for each frame. */
#include "framelength.h"

#include <string.h>

static gboolean
parse_number (const gchar *text, FrameLength *length)
{
  gchar *end;

  *length = (FrameLength) { 0, FALSE };
  if (text == NULL || *text == '\0' || strspn (text, "+-.0123456789eE% \t") < strlen (text))
    return FALSE; /* g_ascii_strtod would also accept hexadecimal, "inf" and "nan" */
  length->value = g_ascii_strtod (text, &end);
  if (end == text || !isfinite (length->value))
    return FALSE;
  end += strspn (end, " \t");
  length->percent = *end == '%';
  end += length->percent;
  return end[strspn (end, " \t")] == '\0';
}

gboolean
frame_length_parse (const gchar *text, FrameLength *length)
{
  *length = (FrameLength) { -INFINITY, FALSE };
  if (text == NULL || *text == '\0')
    return TRUE;
  return parse_number (text, length) && length->value >= 0;
}

gboolean
frame_region_parse (const gchar *text, FrameRegion *region)
{
  gchar **words = g_strsplit (text, ",", -1);
  gboolean ok = g_strv_length (words) == 4 && parse_number (words[0], &region->x)
      && parse_number (words[1], &region->y) && parse_number (words[2], &region->width)
      && region->width.value > 0 && parse_number (words[3], &region->height)
      && region->height.value > 0;

  g_strfreev (words);
  return ok;
}

gdouble
frame_length_pixels (const FrameLength *length, gdouble size)
{
  return length->percent ? length->value * size / 100 : length->value;
}

gboolean
frame_region_needs_size (const FrameRegion *region)
{
  return region->x.percent || region->y.percent || region->width.percent || region->height.percent;
}

BoxRectangle
frame_region_pixels (const FrameRegion *region, gint width, gint height)
{
  const gdouble x = frame_length_pixels (&region->x, width);
  const gdouble y = frame_length_pixels (&region->y, height);

  return (BoxRectangle) { x, y, x + frame_length_pixels (&region->width, width),
    y + frame_length_pixels (&region->height, height) };
}
