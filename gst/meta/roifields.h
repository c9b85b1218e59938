/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfields: the structures that regions of interest carry, by the names that
 * boxmeta.h tells. A name is looked up through a handle, several times as fast as
 * by its text: a quark, or from GStreamer 1.26 on, which keeps no quarks in
 * structures, a GstIdStr. All that differs by that is here.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#if GST_CHECK_VERSION (1, 26, 0)
typedef GstIdStr BoxName;
#else
typedef GQuark BoxName;
#endif

/* Of structures and of fields. */
typedef struct
{
  BoxName detection, object_id, nms, rotation, recorded;
  BoxName x_min, y_min, x_max, y_max, confidence, label_id, id, state, suppressed_by;
  BoxName angle, region_id, parent_id;
  GQuark empty;                 /* the label "" */
} BoxNames;

/* Written once, by box_names_init, which costs nothing from the second time on. */
extern BoxNames box_names;
void box_names_init (void);

static inline gboolean
box_structure_is (const GstStructure * s, const BoxName * name)
{
#if GST_CHECK_VERSION (1, 26, 0)
  return gst_id_str_is_equal (gst_structure_get_name_id_str (s), name);
#else
  return gst_structure_get_name_id (s) == *name;
#endif
}

/* NULL: there is none. */
static inline const GValue *
box_field (const GstStructure * s, const BoxName * name)
{
#if GST_CHECK_VERSION (1, 26, 0)
  return gst_structure_id_str_get_value (s, name);
#else
  return gst_structure_id_get_value (s, *name);
#endif
}

/* A number of any type as a double; FALSE for NULL and for what is none. Cold: nearly
 * all are doubles, whose way then has no jump in it, a seventh of all reading. */
__attribute__ ((cold))
gboolean box_value_number (const GValue * value, gdouble * number);

/* FALSE where there is no such field, or no number in it. (A value's data is read
 * directly once its type is known: g_value_get_double takes as long to check that
 * again as it took to find the field.) */
static inline gboolean
box_field_number (const GstStructure * s, const BoxName * name, gdouble * number)
{
  const GValue *value = box_field (s, name);

  if (G_UNLIKELY (value == NULL || G_VALUE_TYPE (value) != G_TYPE_DOUBLE))
    return box_value_number (value, number);
  *number = value->data[0].v_double;
  return TRUE;
}

/* Likewise, of an integer of any type that an int can hold. */
gboolean box_field_int (const GstStructure * s, const BoxName * name, gint * number);

G_END_DECLS
