/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * roifields: the fields of the structures that regions of interest carry, by the
 * names that boxmeta.h lists. A name is looked up through a handle, which is several
 * times as fast as a lookup by text: a quark, or since GStreamer 1.26, whose
 * structures hold no quarks, a GstIdStr. Only this file and its source depend on
 * which of the two it is.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#if GST_CHECK_VERSION(1, 26, 0)
typedef GstIdStr RoiName;
#else
typedef GQuark RoiName;
#endif

/* The names of the structures, followed by the names of the fields. */
typedef struct
{
  RoiName detection, object_id, nms, rotation, recorded, source;
  RoiName x_min, y_min, x_max, y_max, confidence, label_id, id, state, suppressed_by;
  RoiName angle, region_id, parent_id, name, cut;
  GQuark empty; /* the label "" */
} RoiNames;

/* Written by the first call of roi_names_init; later calls only test a flag. */
extern RoiNames roi_names;
extern gsize roi_names_once;
void roi_names_set (void);

static inline void
roi_names_init (void)
{
  if (g_once_init_enter (&roi_names_once))
    roi_names_set ();
}

/* Returns whether the structure has this name. */
static inline gboolean
roi_structure_is (const GstStructure *s, const RoiName *name)
{
#if GST_CHECK_VERSION(1, 26, 0)
  return gst_id_str_is_equal (gst_structure_get_name_id_str (s), name);
#else
  return gst_structure_get_name_id (s) == *name;
#endif
}

/* Returns the value of a field, or NULL if the structure has no such field. */
static inline const GValue *
roi_field_value (const GstStructure *s, const RoiName *name)
{
#if GST_CHECK_VERSION(1, 26, 0)
  return gst_structure_id_str_get_value (s, name);
#else
  return gst_structure_id_get_value (s, *name);
#endif
}

/* Writes a number of any type as a double. Returns FALSE if the value is NULL or no
 * number. Cold, because nearly all numbers are doubles: the compiler then keeps the
 * path of doubles free of jumps, which saves a seventh of the time of reading. */
__attribute__ ((cold)) gboolean roi_field_any_number (const GValue *value, gdouble *number);

/* Writes the number of a field. Returns FALSE if the field is absent or does not hold a
 * number. (Reads the data of the value directly, because g_value_get_double would check
 * its type again, which takes as long as finding the field.) */
static inline gboolean
roi_field_number (const GstStructure *s, const RoiName *name, gdouble *number)
{
  const GValue *value = roi_field_value (s, name);

  if (G_UNLIKELY (value == NULL || G_VALUE_TYPE (value) != G_TYPE_DOUBLE))
    return roi_field_any_number (value, number);
  *number = value->data[0].v_double;
  return TRUE;
}

/* Sets a field to a number. Replaces the number of a field that holds a double in place, which
 * takes a third of the time of gst_structure_set. */
void roi_field_set_number (GstStructure *s, const RoiName *name, gdouble number);

/* Writes the integer of a field. Returns FALSE if the field is absent, holds another type,
 * or holds an integer that does not fit into an int. */
gboolean roi_field_int (const GstStructure *s, const RoiName *name, gint *number);

G_END_DECLS
