/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* selectsettings: the properties of boxselect as GParamSpecs, and their values. */
#include "selectsettings.h"

#include <string.h>

#include "properties.h"

/* -------------------------------------------------------------- GParamSpecs */

#define DEFAULT_LIMIT 0.0f
#define DEFAULT_ROI NULL
#define DEFAULT_KEEP_CLASSES NULL
#define DEFAULT_DROP_CLASSES NULL
#define DEFAULT_DROP_CUT FALSE

#define SETTABLE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (SETTABLE | GST_PARAM_CONTROLLABLE)

static void
install_limits (GObjectClass *object_class, guint first)
{
  static const struct
  {
    const gchar *nick, *text;
  } rows[BOX_LIMIT_COUNT] = {
    [BOX_LIMIT_MIN_WIDTH] = { "Minimum width",
        "Boxes narrower than this, in pixels before their rotation, are dropped; 0 = no limit" },
    [BOX_LIMIT_MAX_WIDTH] = { "Maximum width",
        "Boxes wider than this, in pixels before their rotation, are dropped; 0 = no limit" },
    [BOX_LIMIT_MIN_HEIGHT] = { "Minimum height",
        "Boxes shorter than this, in pixels before their rotation, are dropped; 0 = no limit" },
    [BOX_LIMIT_MAX_HEIGHT] = { "Maximum height",
        "Boxes taller than this, in pixels before their rotation, are dropped; 0 = no limit" },
    [BOX_LIMIT_MIN_AREA] = { "Minimum area",
        "Boxes with a smaller area (width x height, square pixels) are dropped; 0 = no limit" },
    [BOX_LIMIT_MAX_AREA] = { "Maximum area",
        "Boxes with a larger area (width x height, square pixels) are dropped; 0 = no limit" },
    [BOX_LIMIT_MIN_ASPECT_RATIO] = { "Minimum aspect ratio",
        "Boxes with a smaller width / height are dropped; 0 = no limit" },
    [BOX_LIMIT_MAX_ASPECT_RATIO] = { "Maximum aspect ratio",
        "Boxes with a larger width / height are dropped; 0 = no limit" },
  };
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    g_object_class_install_property (object_class, first + i,
        g_param_spec_float (box_limit_name ((BoxLimit) i), rows[i].nick, rows[i].text, 0,
            G_MAXFLOAT, DEFAULT_LIMIT, CONTROLLABLE));
}

void
select_settings_install (GObjectClass *object_class, guint first)
{
  install_limits (object_class, first);
  g_object_class_install_property (object_class, first + SELECT_PROP_ROI,
      g_param_spec_string ("roi", "Region of interest",
          "Boxes whose centre is outside of this rectangle are dropped: "
          "\"x,y,width,height\", each in pixels or, with %, in per cent of the frame, such as "
          "\"25%,0,50%,100%\". Its right and bottom sides are outside. NULL or empty = off. "
          "Presets do not hold it",
          DEFAULT_ROI, SETTABLE));
  g_object_class_install_property (object_class, first + SELECT_PROP_KEEP_CLASSES,
      g_param_spec_string ("keep-classes", "Keep classes",
          "Classes separated by commas; boxes of other classes or without a label are dropped. "
          "Their parts (parent_id) are not dropped with them. NULL or empty = "
          "keep all classes. Presets do not hold it",
          DEFAULT_KEEP_CLASSES, SETTABLE));
  g_object_class_install_property (object_class, first + SELECT_PROP_DROP_CLASSES,
      g_param_spec_string ("drop-classes", "Drop classes",
          "Classes separated by commas; boxes of these classes are dropped, "
          "also if keep-classes lists them. Their parts (parent_id) are not dropped with them. "
          "NULL or empty = drop none. Presets do not hold it",
          DEFAULT_DROP_CLASSES, SETTABLE));
  g_object_class_install_property (object_class, first + SELECT_PROP_CLASS_LIMITS,
      g_param_spec_boxed ("class-limits", "Class limits",
          "Limits of size (min-width, max-width, min-height, max-height, min-area, max-area, "
          "min-aspect-ratio, max-aspect-ratio) for single classes, in brackets: "
          "'o,person=[o,min-height=40],car=[o,max-area=0]' or, for classes with blanks, "
          "'\"o,options=<[o,class=\\\"traffic light\\\",min-width=9]>\"', both quoted for a "
          "shell. 0 = no limit. Presets do not hold it",
          GST_TYPE_STRUCTURE, SETTABLE));
  g_object_class_install_property (object_class, first + SELECT_PROP_DROP_CUT,
      g_param_spec_boolean ("drop-cut", "Drop cut boxes",
          "Drop the boxes that boxmerge or tiledetect has marked, because an edge of their tile "
          "cuts them",
          DEFAULT_DROP_CUT, CONTROLLABLE));
}

/* ------------------------------------------------------------------- values */

static const gsize fields[] = {
  [SELECT_PROP_ROI] = G_STRUCT_OFFSET (SelectSettings, roi),
  [SELECT_PROP_KEEP_CLASSES] = G_STRUCT_OFFSET (SelectSettings, keep_classes),
  [SELECT_PROP_DROP_CLASSES] = G_STRUCT_OFFSET (SelectSettings, drop_classes),
  [SELECT_PROP_CLASS_LIMITS] = G_STRUCT_OFFSET (SelectSettings, class_limits),
  [SELECT_PROP_DROP_CUT] = G_STRUCT_OFFSET (SelectSettings, rules.drop_cut),
};

static gsize
offset_of (guint prop)
{
  if (prop < BOX_LIMIT_COUNT)
    return G_STRUCT_OFFSET (SelectSettings, rules.limits.limit) + prop * sizeof (gfloat);
  return fields[prop];
}

void
select_settings_init (SelectSettings *self)
{
  *self = (SelectSettings) {
    .roi = g_strdup (DEFAULT_ROI),
    .keep_classes = g_strdup (DEFAULT_KEEP_CLASSES),
    .drop_classes = g_strdup (DEFAULT_DROP_CLASSES),
    .rules = { .drop_cut = DEFAULT_DROP_CUT },
  };
  box_limits_init (&self->rules.limits, DEFAULT_LIMIT);
}

void
select_settings_clear (SelectSettings *self)
{
  g_clear_pointer (&self->made, box_select_rules_unref);
  g_clear_pointer (&self->rules.class_limits, g_array_unref);
  g_clear_pointer (&self->rules.keep_classes, g_array_unref);
  g_clear_pointer (&self->rules.drop_classes, g_array_unref);
  g_clear_pointer (&self->class_limits, gst_structure_free);
  g_free (self->roi);
  g_free (self->keep_classes);
  g_free (self->drop_classes);
  g_free (self->roi_error);
  g_free (self->class_limits_error);
}

/* ------------------------------------------------------------- class-limits */

static void
init_limits (gpointer entry)
{
  box_limits_init (&((ClassLimits *) entry)->limits, BOX_LIMIT_UNSET);
}

static const gchar *
take_limit (gpointer entry, const gchar *key, const GValue *value)
{
  const BoxLimit limit = box_limit_from_name (key);
  gdouble number;

  if (limit == BOX_LIMIT_COUNT)
    return CLASS_LIST_UNKNOWN;
  /* (false for NaN) */
  if (!class_list_number (value, &number) || !(number >= 0 && number <= G_MAXFLOAT))
    return "a finite number of 0 (no limit) or more";
  ((ClassLimits *) entry)->limits.limit[limit] = (gfloat) number;
  return NULL;
}

static gchar *
check_limits (gconstpointer entry)
{
  const ClassLimits *self = entry;
  const BoxLimit limit = box_limits_contradiction (&self->limits);

  if (limit == BOX_LIMIT_COUNT)
    return NULL;
  return g_strdup_printf ("%s of class \"%s\" exceeds %s, so no box would pass",
      box_limit_name (limit), g_quark_to_string (self->label),
      box_limit_name ((BoxLimit) (limit + 1)));
}

static void
parse_class_limits (SelectSettings *self)
{
  static const ClassListForm form = {
    .keys = "min-width, max-width, min-height, max-height, min-area, max-area, min-aspect-ratio, "
            "max-aspect-ratio",
    .entry_size = sizeof (ClassLimits),
    .init = init_limits,
    .take = take_limit,
    .check = check_limits,
  };

  g_clear_pointer (&self->rules.class_limits, g_array_unref);
  g_clear_pointer (&self->class_limits_error, g_free);
  if (self->class_limits)
    self->rules.class_limits = class_list_parse (self->class_limits, &form,
        &self->class_limits_error);
}

/* ---------------------------------------------------------------------- roi */

static void
parse_roi (SelectSettings *self)
{
  const gchar *text = self->roi;

  self->rules.has_region = text && *text && frame_region_parse (text, &self->rules.region);
  g_clear_pointer (&self->roi_error, g_free);
  if (text && *text && !self->rules.has_region)
    self->roi_error =
        g_strdup_printf ("\"%s\" is not \"x,y,width,height\" with a width and height "
                         "greater than 0, each in pixels or per cent, as in 25%%,0,50%%,100%%",
            text);
}

/* ------------------------------------------------------------------ setting */

static void
set_selection (GArray **selection, const gchar *text)
{
  g_clear_pointer (selection, g_array_unref);
  *selection = class_selection_parse (text);
}

static void
set (SelectSettings *self, guint prop, const GValue *value)
{
  property_field_set (G_STRUCT_MEMBER_P (self, offset_of (prop)), value);
  if (prop == SELECT_PROP_ROI)
    parse_roi (self);
  else if (prop == SELECT_PROP_CLASS_LIMITS)
    parse_class_limits (self);
  else if (prop == SELECT_PROP_KEEP_CLASSES)
    set_selection (&self->rules.keep_classes, self->keep_classes);
  else if (prop == SELECT_PROP_DROP_CLASSES)
    set_selection (&self->rules.drop_classes, self->drop_classes);
}

/* Returns why a text cannot be used, as select_settings_error does, or NULL. */
static gchar *
text_error (const SelectSettings *self)
{
  if (self->roi_error)
    return g_strdup_printf ("Cannot use roi: %s.", self->roi_error);
  if (self->class_limits_error)
    return g_strdup_printf ("Cannot use class-limits: %s.", self->class_limits_error);
  return NULL;
}

gchar *
select_settings_set (SelectSettings *self, guint prop, const GValue *value, gboolean keep_usable)
{
  GValue before = G_VALUE_INIT;
  gchar *refused = NULL;

  g_clear_pointer (&self->made, box_select_rules_unref);
  g_value_init (&before, G_VALUE_TYPE (value));
  select_settings_get (self, prop, &before);
  set (self, prop, value);
  if (keep_usable && (refused = text_error (self)) != NULL)
    set (self, prop, &before);
  g_value_unset (&before);
  return refused;
}

void
select_settings_get (const SelectSettings *self, guint prop, GValue *value)
{
  property_field_get (G_STRUCT_MEMBER_P (self, offset_of (prop)), value);
}

/* A minimum above its maximum is no error of `set`, because the maximum may be set next. */
gchar *
select_settings_error (const SelectSettings *self)
{
  const BoxLimit limit = box_limits_contradiction (&self->rules.limits);
  gchar *error = text_error (self);

  if (error == NULL && limit != BOX_LIMIT_COUNT)
    error = g_strdup_printf ("Cannot use %s: it exceeds %s, so no box would pass.",
        box_limit_name (limit), box_limit_name ((BoxLimit) (limit + 1)));
  return error;
}

BoxSelectRules *
select_settings_get_rules (SelectSettings *self)
{
  if (self->made == NULL)
    self->made = box_select_rules_new (&self->rules);
  return g_atomic_rc_box_acquire (self->made);
}
