/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* roifields: the table of names, and the conversion of numbers of rarer types. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "roifields.h"

gsize roi_names_once = 0;
RoiNames roi_names;

#if GST_CHECK_VERSION(1, 26, 0)
#define SET(name, text) gst_id_str_set_static_str (&roi_names.name, text)
#else
#define SET(name, text) (roi_names.name = g_quark_from_static_string (text))
#endif

/* Completes the initialization that g_once_init_enter began. */
void
roi_names_set (void)
{
  SET (detection, "detection");
  SET (object_id, "object_id");
  SET (nms, "nms");
  SET (rotation, "rotation");
  SET (recorded, "recorded");
  SET (source, "source");
  SET (x_min, "x_min");
  SET (y_min, "y_min");
  SET (x_max, "x_max");
  SET (y_max, "y_max");
  SET (confidence, "confidence");
  SET (label_id, "label_id");
  SET (id, "id");
  SET (state, "state");
  SET (suppressed_by, "suppressed-by");
  SET (angle, "angle");
  SET (region_id, "region_id");
  SET (parent_id, "parent_id");
  SET (name, "name");
  SET (cut, "cut");
  roi_names.empty = g_quark_from_static_string ("");
  g_once_init_leave (&roi_names_once, 1);
}

gboolean
roi_field_any_number (const GValue *value, gdouble *number)
{
  GValue converted = G_VALUE_INIT;

  g_value_init (&converted, G_TYPE_DOUBLE);
  if (value == NULL || G_VALUE_HOLDS_STRING (value) || !g_value_transform (value, &converted))
    return FALSE;
  *number = g_value_get_double (&converted);
  return TRUE;
}

void
roi_field_set_number (GstStructure *s, const RoiName *name, gdouble number)
{
  GValue *value = (GValue *) roi_field_value (s, name);
  GValue added = G_VALUE_INIT;

  if (value && G_VALUE_HOLDS_DOUBLE (value)) {
    g_value_set_double (value, number);
    return;
  }
  g_value_init (&added, G_TYPE_DOUBLE);
  g_value_set_double (&added, number);
#if GST_CHECK_VERSION(1, 26, 0)
  gst_structure_id_str_take_value (s, name, &added);
#else
  gst_structure_id_take_value (s, *name, &added);
#endif
}

gboolean
roi_field_int (const GstStructure *s, const RoiName *name, gint *number)
{
  const GValue *value = roi_field_value (s, name);

  if (value == NULL)
    return FALSE;
  if (G_LIKELY (G_VALUE_HOLDS_INT (value)))
    *number = g_value_get_int (value);
  else if (G_VALUE_HOLDS_UINT (value) && g_value_get_uint (value) <= G_MAXINT)
    *number = (gint) g_value_get_uint (value);
  else if (G_VALUE_HOLDS_INT64 (value) && g_value_get_int64 (value) >= G_MININT
      && g_value_get_int64 (value) <= G_MAXINT)
    *number = (gint) g_value_get_int64 (value);
  else
    return FALSE;
  return TRUE;
}
