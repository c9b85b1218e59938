/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * properties: what the elements share in the handling of their properties. An element
 * lists the offsets of its fields by property id; these functions copy a value
 * to or from the field at an offset. The caller holds the object lock.
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* Sets the field of a property to `value`. The field is a gboolean, the
 * enumeration, a gint, a gfloat, a gdouble, a guint, a guint64, or a gchar * or
 * GstStructure * that the struct owns, whose former value is freed. */
static inline void
property_field_set (gpointer field, const GValue *value)
{
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_BOOLEAN:
      *(gboolean *) field = g_value_get_boolean (value);
      break;
    case G_TYPE_ENUM:
      *(gint *) field = g_value_get_enum (value);
      break;
    case G_TYPE_INT:
      *(gint *) field = g_value_get_int (value);
      break;
    case G_TYPE_FLOAT:
      *(gfloat *) field = g_value_get_float (value);
      break;
    case G_TYPE_DOUBLE:
      *(gdouble *) field = g_value_get_double (value);
      break;
    case G_TYPE_UINT:
      *(guint *) field = g_value_get_uint (value);
      break;
    case G_TYPE_UINT64:
      *(guint64 *) field = g_value_get_uint64 (value);
      break;
    case G_TYPE_STRING:
      g_free (*(gchar **) field);
      *(gchar **) field = g_value_dup_string (value);
      break;
    case G_TYPE_BOXED:
      g_clear_pointer ((GstStructure **) field, gst_structure_free);
      *(GstStructure **) field = g_value_dup_boxed (value);
      break;
    default:
      g_assert_not_reached ();
  }
}

/* Sets `value` to the field of a property; a text or a structure is copied. */
static inline void
property_field_get (gconstpointer field, GValue *value)
{
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *(const gboolean *) field);
      break;
    case G_TYPE_ENUM:
      g_value_set_enum (value, *(const gint *) field);
      break;
    case G_TYPE_INT:
      g_value_set_int (value, *(const gint *) field);
      break;
    case G_TYPE_FLOAT:
      g_value_set_float (value, *(const gfloat *) field);
      break;
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *(const gdouble *) field);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, *(const guint *) field);
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, *(const guint64 *) field);
      break;
    case G_TYPE_STRING:
      g_value_set_string (value, *(gchar *const *) field);
      break;
    case G_TYPE_BOXED:
      g_value_set_boxed (value, *(GstStructure *const *) field);
      break;
    default:
      g_assert_not_reached ();
  }
}

/* Warns that a property was set in PAUSED or PLAYING, where it is fixed. */
#define PROPERTY_READY_ONLY \
  "%s can be set only in the states NULL and READY; its value is unchanged"
#define PROPERTY_WARN_READY_ONLY(element, pspec) \
  GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS, (PROPERTY_READY_ONLY, (pspec)->name), (NULL))

/* The method before_transform of elements with controllable properties: gives them their
 * values at the stream time of the buffer, which GstBaseTransform does not do itself. */
static inline void
properties_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (trans->segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (buffer))
    time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

G_END_DECLS
