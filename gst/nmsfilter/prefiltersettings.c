/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prefiltersettings: the properties of prefilter as GParamSpecs, and their values. */
#include "prefiltersettings.h"

#include "enumtype.h"
#include "properties.h"

/* -------------------------------------------------------------- GParamSpecs */

#define DEFAULT_LIMIT 0.0f
#define DEFAULT_ROI NULL
#define DEFAULT_KEEP_CLASSES NULL
#define DEFAULT_DROP_CLASSES NULL
#define DEFAULT_EDGE_POLICY EDGE_POLICY_NONE
#define DEFAULT_EDGE_SIDES EDGE_CUT_ALL
#define DEFAULT_EDGE_MARGIN "5"

#define SETTABLE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (SETTABLE | GST_PARAM_CONTROLLABLE)

DEFINE_ENUM_TYPE (gst_nms_edge_policy_get_type, "GstNmsEdgePolicy",
    { EDGE_POLICY_NONE, "Treat boxes at an edge as other boxes", "none" },
    { EDGE_POLICY_LOWER_RANK, "Rank boxes at an edge below all other boxes", "lower-rank" },
    { EDGE_POLICY_DROP, "Drop boxes at an edge before suppression", "drop" })

DEFINE_FLAGS_TYPE (gst_nms_edge_sides_get_type, "GstNmsEdgeSides",
    { EDGE_CUT_LEFT, "The left edge", "left" }, { EDGE_CUT_TOP, "The top edge", "top" },
    { EDGE_CUT_RIGHT, "The right edge", "right" }, { EDGE_CUT_BOTTOM, "The bottom edge", "bottom" })

static void
install_limits (GObjectClass *object_class, guint first)
{
  static const struct
  {
    const gchar *nick, *text;
  } rows[BOX_LIMIT_COUNT] = {
    [BOX_LIMIT_MIN_WIDTH] = { "Minimum width",
        "Boxes narrower than this (pixels of the frame, before their rotation) are dropped before "
        "suppression; 0 = no limit" },
    [BOX_LIMIT_MAX_WIDTH] = { "Maximum width",
        "Boxes wider than this (pixels of the frame, before their rotation) are dropped before "
        "suppression; 0 = no limit" },
    [BOX_LIMIT_MIN_HEIGHT] = { "Minimum height",
        "Boxes shorter than this (pixels of the frame, before their rotation) are dropped before "
        "suppression; 0 = no limit" },
    [BOX_LIMIT_MAX_HEIGHT] = { "Maximum height",
        "Boxes taller than this (pixels of the frame, before their rotation) are dropped before "
        "suppression; 0 = no limit" },
    [BOX_LIMIT_MIN_AREA] = { "Minimum area",
        "Boxes with a smaller area (width x height, square pixels) are dropped before "
        "suppression; 0 = no limit" },
    [BOX_LIMIT_MAX_AREA] = { "Maximum area",
        "Boxes with a larger area (width x height, square pixels) are dropped before "
        "suppression; 0 = no limit" },
    [BOX_LIMIT_MIN_ASPECT_RATIO] = { "Minimum aspect ratio",
        "Boxes with a smaller width / height are dropped before suppression; 0 = no limit" },
    [BOX_LIMIT_MAX_ASPECT_RATIO] = { "Maximum aspect ratio",
        "Boxes with a larger width / height are dropped before suppression; 0 = no limit" },
  };
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    g_object_class_install_property (object_class, first + i,
        g_param_spec_float (box_limit_name ((BoxLimit) i), rows[i].nick, rows[i].text, 0,
            G_MAXFLOAT, DEFAULT_LIMIT, CONTROLLABLE));
}

void
prefilter_settings_install (GObjectClass *object_class, guint first)
{
  install_limits (object_class, first);
  g_object_class_install_property (object_class, first + PREFILTER_PROP_ROI,
      g_param_spec_string ("roi", "Region of interest",
          "Boxes whose centre is outside of this rectangle are dropped before suppression: "
          "\"x,y,width,height\", each in pixels or, with %, in per cent of the frame, such as "
          "\"25%,0,50%,100%\". Its right and bottom sides are outside. NULL or empty = off. "
          "Presets do not hold it",
          DEFAULT_ROI, SETTABLE));
  g_object_class_install_property (object_class, first + PREFILTER_PROP_KEEP_CLASSES,
      g_param_spec_string ("keep-classes", "Keep classes",
          "Classes separated by commas; boxes of other classes or without a label are dropped "
          "before suppression. Their parts (parent_id) are not dropped with them. NULL or empty = "
          "keep all classes. Presets do not hold it",
          DEFAULT_KEEP_CLASSES, SETTABLE));
  g_object_class_install_property (object_class, first + PREFILTER_PROP_DROP_CLASSES,
      g_param_spec_string ("drop-classes", "Drop classes",
          "Classes separated by commas; boxes of these classes are dropped before suppression, "
          "also if keep-classes lists them. Their parts (parent_id) are not dropped with them. "
          "NULL or empty = drop none. Presets do not hold it",
          DEFAULT_DROP_CLASSES, SETTABLE));
  g_object_class_install_property (object_class, first + PREFILTER_PROP_EDGE_POLICY,
      g_param_spec_enum ("edge-policy", "Edge policy",
          "What happens to boxes of objects that an edge cuts: boxes within edge-margin of an "
          "edge of roi that lies inside the frame or, without roi, of any edge of the frame, "
          "which then is a tile of a larger picture. Boxes that extend beyond roi by more than "
          "edge-margin + 1 pixel are whole. \"lower-rank\" lets whole boxes suppress the "
          "others; it changes no confidence",
          gst_nms_edge_policy_get_type (), DEFAULT_EDGE_POLICY, SETTABLE));
  g_object_class_install_property (object_class, first + PREFILTER_PROP_EDGE_SIDES,
      g_param_spec_flags ("edge-sides", "Edge sides",
          "The edges at which edge-policy applies to boxes. For a tile without roi, leave out "
          "those that are edges of the whole picture",
          gst_nms_edge_sides_get_type (), DEFAULT_EDGE_SIDES, SETTABLE));
  g_object_class_install_property (object_class, first + PREFILTER_PROP_EDGE_MARGIN,
      g_param_spec_string ("edge-margin", "Edge margin",
          "Largest distance from an edge at which edge-policy applies to a box: pixels or, with "
          "%, per cent of the width (left and right edge) and of the height (top and bottom "
          "edge) of roi or else of the frame. 0 = boxes that touch the edge; NULL or "
          "empty = none. Presets do not hold it",
          DEFAULT_EDGE_MARGIN, SETTABLE));
  gst_type_mark_as_plugin_api (gst_nms_edge_policy_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_nms_edge_sides_get_type (), 0);
}

/* ------------------------------------------------------------------- values */

static const gsize fields[] = {
  [PREFILTER_PROP_ROI] = G_STRUCT_OFFSET (PrefilterSettings, roi),
  [PREFILTER_PROP_KEEP_CLASSES] = G_STRUCT_OFFSET (PrefilterSettings, keep_classes),
  [PREFILTER_PROP_DROP_CLASSES] = G_STRUCT_OFFSET (PrefilterSettings, drop_classes),
  [PREFILTER_PROP_EDGE_POLICY] = G_STRUCT_OFFSET (PrefilterSettings, rules.edge_policy),
  [PREFILTER_PROP_EDGE_SIDES] = G_STRUCT_OFFSET (PrefilterSettings, rules.edge_sides),
  [PREFILTER_PROP_EDGE_MARGIN] = G_STRUCT_OFFSET (PrefilterSettings, edge_margin),
};

static gsize
offset_of (guint prop)
{
  if (prop < BOX_LIMIT_COUNT)
    return G_STRUCT_OFFSET (PrefilterSettings, rules.limits.limit) + prop * sizeof (gfloat);
  return fields[prop];
}

void
prefilter_settings_init (PrefilterSettings *self)
{
  *self = (PrefilterSettings) {
    .roi = g_strdup (DEFAULT_ROI),
    .keep_classes = g_strdup (DEFAULT_KEEP_CLASSES),
    .drop_classes = g_strdup (DEFAULT_DROP_CLASSES),
    .edge_margin = g_strdup (DEFAULT_EDGE_MARGIN),
  };
  box_limits_init (&self->rules.limits, DEFAULT_LIMIT);
  self->rules.edge_policy = DEFAULT_EDGE_POLICY;
  self->rules.edge_sides = DEFAULT_EDGE_SIDES;
  frame_length_parse (self->edge_margin, &self->rules.edge_margin);
}

void
prefilter_settings_clear (PrefilterSettings *self)
{
  prefilter_clear (&self->rules);
  g_free (self->roi);
  g_free (self->keep_classes);
  g_free (self->drop_classes);
  g_free (self->edge_margin);
  g_free (self->roi_error);
  g_free (self->edge_margin_error);
}

/* Parses the text of a property into `rules`. Returns why it cannot be used, or NULL. */
static gchar *
parse (Prefilter *rules, guint prop, const gchar *text)
{
  if (prop == PREFILTER_PROP_ROI) {
    FrameRegion region = { 0 };

    rules->has_region = text && *text && frame_region_parse (text, &region);
    rules->region = region;
    if (text && *text && !rules->has_region)
      return g_strdup_printf ("\"%s\" is not \"x,y,width,height\" with a width and height "
                              "greater than 0, each in pixels or per cent, as in 25%%,0,50%%,100%%",
          text);
  } else if (prop == PREFILTER_PROP_EDGE_MARGIN) {
    if (!frame_length_parse (text, &rules->edge_margin))
      return g_strdup_printf ("\"%s\" is not %s", text, FRAME_LENGTH_FORM);
  }
  return NULL;
}

static void
set_selection (ClassSelection **selection, const gchar *text)
{
  class_selection_unref (*selection);
  *selection = class_selection_parse (text);
}

gchar *
prefilter_settings_set (PrefilterSettings *self, guint prop, const GValue *value,
    gboolean keep_usable)
{
  gchar **error_of = prop == PREFILTER_PROP_ROI ? &self->roi_error
      : prop == PREFILTER_PROP_EDGE_MARGIN      ? &self->edge_margin_error
                                                : NULL;

  if (error_of) {
    Prefilter rules = self->rules;
    gchar *error = parse (&rules, prop, g_value_get_string (value));

    if (error && keep_usable)
      return error;
    self->rules = rules;
    g_free (*error_of);
    *error_of = error;
  }
  property_field_set (G_STRUCT_MEMBER_P (self, offset_of (prop)), value);
  if (prop == PREFILTER_PROP_KEEP_CLASSES)
    set_selection (&self->rules.keep_classes, self->keep_classes);
  if (prop == PREFILTER_PROP_DROP_CLASSES)
    set_selection (&self->rules.drop_classes, self->drop_classes);
  return NULL;
}

void
prefilter_settings_get (const PrefilterSettings *self, guint prop, GValue *value)
{
  property_field_get (G_STRUCT_MEMBER_P (self, offset_of (prop)), value);
}

gchar *
prefilter_settings_error (const PrefilterSettings *self)
{
  const BoxLimit limit = box_limits_contradiction (&self->rules.limits);

  if (self->roi_error)
    return g_strdup_printf ("Cannot use roi: %s.", self->roi_error);
  if (self->edge_margin_error)
    return g_strdup_printf ("Cannot use edge-margin: %s.", self->edge_margin_error);
  if (limit != BOX_LIMIT_COUNT)
    return g_strdup_printf ("Cannot use %s: it exceeds %s, so no box would pass.",
        box_limit_name (limit), box_limit_name ((BoxLimit) (limit + 1)));
  return NULL;
}
