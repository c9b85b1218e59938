/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsfilter: its presets, found in the folder that GST_PRESET_PATH names, and saved ones. */
#include "gstrunner.h"

#include <glib/gstdio.h>

#define RULE \
  "iou-threshold score-threshold max-detections max-candidates min-neighbors class-agnostic " \
  "max-per-class inclusive missing-score min-size-ratio"

static const gchar *const rows[][2] = {
  /* name, values of RULE */
  { "end2end", "0.80000001192092896 0.10000000000000001 300 0 0 true 0 false neighbors 0" },
  { "opencv", "0.40000000596046448 0.5 0 0 0 false 0 false neighbors 0" },
  { "ssd", "0.44999998807907104 0.01 200 0 0 false 0 false neighbors 0" },
  { "torchvision", "0.5 0.050000000000000003 100 0 0 false 0 false neighbors 0" },
  { "ultralytics", "0.69999998807907104 0.25 300 30000 0 false 0 false neighbors 0" },
  { "viola-jones", "0.30000001192092896 -inf 0 0 3 false 0 false neighbors 0" },
};

static void
test_names (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");
  g_auto (GStrv) names = gst_preset_get_preset_names (GST_PRESET (element));

  g_assert_cmpuint (g_strv_length (names), ==, G_N_ELEMENTS (rows));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *comment = NULL;

    g_assert_true (g_strv_contains ((const gchar *const *) names, rows[i][0]));
    g_assert_true (gst_preset_get_meta (GST_PRESET (element), rows[i][0], "comment", &comment));
    g_assert_nonnull (comment);
  }
}

/* A preset sets all properties of the rule, whatever was set before. */
static void
test_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf (
        "nmsfilter iou-threshold=0.123 score-threshold=7 max-detections=9 max-per-class=9 "
        "max-candidates=9 min-neighbors=9 class-agnostic=true inclusive=true missing-score=drop "
        "min-size-ratio=1 @preset=%s",
        rows[i][0]);
    g_autoptr (GstElement) element = element_new (line);

    assert_values (element, RULE, rows[i][1]);
  }
}

/* ------------------------------------------------------------- saved presets */

/* Sets `value`, which holds the default, to another one. */
static void
change_value (GParamSpec *spec, GValue *value)
{
  if (G_IS_PARAM_SPEC_BOOLEAN (spec))
    g_value_set_boolean (value, !g_value_get_boolean (value));
  else if (G_IS_PARAM_SPEC_ENUM (spec))
    g_value_set_enum (value, 2 - (gint) (G_PARAM_SPEC_ENUM (spec)->enum_class->n_values < 3));
  else if (G_IS_PARAM_SPEC_FLOAT (spec))
    g_value_set_float (value, 0.1f);
  else if (G_IS_PARAM_SPEC_DOUBLE (spec))
    g_value_set_double (value, 0.1);
  else if (G_IS_PARAM_SPEC_UINT (spec))
    g_value_set_uint (value, 7);
  else if (G_IS_PARAM_SPEC_UINT64 (spec))
    g_value_set_uint64 (value, G_MAXUINT64 - 1);
  else if (G_IS_PARAM_SPEC_STRING (spec))
    g_value_set_string (value, "traffic light,50%");
  else
    g_value_take_boxed (value,
        gst_structure_from_string ("o,options=<[o,class=\"traffic light\",max=5]>", NULL));
}

/* Sets a property to another value than its default. */
static void
change_property (GObject *element, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;

  g_object_get_property (element, spec->name, &value);
  change_value (spec, &value);
  g_assert_false (g_param_value_defaults (spec, &value));
  g_object_set_property (element, spec->name, &value);
  g_value_unset (&value);
}

/* Fails unless the property was loaded as it was saved. One that presets do not hold must say
 * so, and must have kept its default. */
static void
check_loaded (GObject *saved, GObject *loaded, GParamSpec *spec)
{
  const gboolean out = strstr (g_param_spec_get_blurb (spec), "Presets do not hold it") != NULL;
  GValue before = G_VALUE_INIT, after = G_VALUE_INIT;

  g_object_get_property (saved, spec->name, &before);
  g_object_get_property (loaded, spec->name, &after);
  if (out ? !g_param_value_defaults (spec, &after)
          : g_param_values_cmp (spec, &before, &after) != 0)
    g_error ("%s changes in a preset", spec->name);
  g_value_unset (&before);
  g_value_unset (&after);
}

static void
remove_user_presets (const gchar *element)
{
  g_autofree gchar *path = g_strdup_printf ("%s/gstreamer-1.0/presets/%s.prs",
      g_get_user_data_dir (), element);
  g_autofree gchar *backup = g_strconcat (path, ".bak", NULL);

  g_remove (path);
  g_remove (backup);
}

/* Of the elements, only nmsfilter has presets. */
static void
test_saved (void)
{
  static const gchar *const others[] = { "boxreplay", "boxrecord", "boxoverlay", "boxtransform",
    "boxmerge", "tiledetect" };
  g_autoptr (GstElement) saved = element_new ("nmsfilter name=saved");
  g_autoptr (GstElement) loaded = element_new ("nmsfilter name=loaded");
  g_autofree GParamSpec **specs = NULL;
  guint n, count = 0;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    GstElement *other = gst_element_factory_make (others[i], NULL);

    g_assert_false (GST_IS_PRESET (other));
    g_clear_pointer (&other, gst_object_unref);
  }
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (saved), &n);
  for (guint i = 0; i < n; i++)
    if (specs[i]->owner_type == G_OBJECT_TYPE (saved) && (specs[i]->flags & G_PARAM_WRITABLE))
      specs[count++] = specs[i];
  for (guint i = 0; i < count; i++)
    change_property (G_OBJECT (saved), specs[i]);
  g_assert_true (gst_preset_save_preset (GST_PRESET (saved), "mine"));
  g_assert_true (gst_preset_load_preset (GST_PRESET (loaded), "mine"));
  g_assert_true (gst_preset_delete_preset (GST_PRESET (saved), "mine"));
  remove_user_presets (G_OBJECT_TYPE_NAME (saved));
  g_assert_cmpstr (GST_OBJECT_NAME (loaded), ==, "loaded");
  for (guint i = 0; i < count; i++)
    check_loaded (G_OBJECT (saved), G_OBJECT (loaded), specs[i]);
}

static const TestCase cases[] = { { "/nmsfilter/presets/names", test_names },
  { "/nmsfilter/presets/values", test_values }, { "/nmsfilter/presets/saved", test_saved },
  { NULL } };

GST_TEST_PROGRAM (cases);
