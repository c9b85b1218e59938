/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterproperties: makes the options from the GParamSpecs of the properties, so that a new
 * property of the element is an option too. */
#include "filterproperties.h"

/* Ids behind those of FilterProp. */
enum
{
  PROP_SELECT = FILTER_PROP_COUNT, /* the first of the properties of selectsettings.h */
  PROP_ACTION = PROP_SELECT + SELECT_PROP_COUNT,
};

/* A class that has the properties, only to own their GParamSpecs. */
typedef GObject FilterCommandProperties;
typedef GObjectClass FilterCommandPropertiesClass;
GType filter_command_properties_get_type (void);
G_DEFINE_TYPE (FilterCommandProperties, filter_command_properties, G_TYPE_OBJECT)

static void
no_access (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  g_assert_not_reached (); /* there are no instances */
}

static void
no_change (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  g_assert_not_reached ();
}

static void
filter_command_properties_class_init (FilterCommandPropertiesClass *klass)
{
  klass->get_property = no_access;
  klass->set_property = no_change;
  filter_settings_install (klass);
  select_settings_install (klass, PROP_SELECT);
  g_object_class_install_property (klass, PROP_ACTION, box_action_spec ());
}

static void
filter_command_properties_init (FilterCommandProperties *self)
{
}

void
filter_properties_init (BoxListSettings *self)
{
  filter_settings_init (&self->filter);
  select_settings_init (&self->select);
  self->action = BOX_DEFAULT_ACTION;
}

void
filter_properties_clear (BoxListSettings *self)
{
  filter_settings_clear (&self->filter);
  select_settings_clear (&self->select);
}

/* Converts text to a value of the property. */
static gboolean
read_value (GParamSpec *spec, const gchar *text, GValue *value)
{
  g_value_init (value, spec->value_type);
  if (G_IS_PARAM_SPEC_STRING (spec)) {
    g_value_set_string (value, text);
    return TRUE;
  }
  return gst_value_deserialize (value, text) && !g_param_value_validate (spec, value);
}

static gboolean
is_option (const GParamSpec *spec)
{
  return spec->param_id != FILTER_PROP_INTERVAL;
}

/* Sets a property. Returns why it cannot be used, to be freed, or NULL. */
static gchar *
set_value (BoxListSettings *self, guint id, const GValue *value)
{
  gchar *refused;

  if (id == PROP_ACTION) {
    self->action = (GstNmsAction) g_value_get_enum (value);
    return NULL;
  }
  if (id >= PROP_SELECT)
    refused = select_settings_set (&self->select, id - PROP_SELECT, value, FALSE);
  else
    refused = filter_settings_set (&self->filter, id, value, FALSE);
  if (!refused)
    refused = filter_settings_error (&self->filter);
  return refused ? refused : select_settings_error (&self->select);
}

gboolean
filter_properties_set (BoxListSettings *self, const gchar *name, const gchar *text, GError **error)
{
  GObjectClass *klass = g_type_class_peek (filter_command_properties_get_type ());
  GParamSpec *spec = g_object_class_find_property (klass, name);
  GValue value = G_VALUE_INIT;
  gchar *refused = NULL;
  gboolean usable;

  if (spec == NULL || !is_option (spec)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "there is no option --%s", name);
    return FALSE;
  }
  usable = read_value (spec, text, &value);
  if (usable)
    refused = set_value (self, spec->param_id, &value);
  usable = usable && !refused;
  if (!usable)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s cannot be \"%s\"%s%s", name,
        text, refused ? ": " : "", refused ? refused : "");
  g_value_unset (&value);
  g_free (refused);
  return usable;
}

/* A GOptionArgFunc. A switch may be given without a value. */
static gboolean
set_option (const gchar *option, const gchar *text, gpointer data, GError **error)
{
  return filter_properties_set (data, option + strlen ("--"), text ? text : "true", error);
}

GOptionGroup *
filter_properties_group (BoxListSettings *self)
{
  GObjectClass *klass = g_type_class_ref (filter_command_properties_get_type ());
  GOptionGroup *group = g_option_group_new ("nmsfilter",
      "Options of nmsfilter and boxselect:", "Show the options of nmsfilter and boxselect", self,
      NULL);
  guint count;
  GParamSpec **specs = g_object_class_list_properties (klass, &count);

  for (guint i = 0; i < count; i++) {
    const gboolean is_switch = G_IS_PARAM_SPEC_BOOLEAN (specs[i]);
    const GOptionEntry entries[] = {
      { specs[i]->name, 0, is_switch ? G_OPTION_FLAG_OPTIONAL_ARG : 0, G_OPTION_ARG_CALLBACK,
          set_option, g_param_spec_get_blurb (specs[i]), is_switch ? NULL : "VALUE" },
      { NULL }
    };
    if (is_option (specs[i]))
      g_option_group_add_entries (group, entries);
  }
  g_free (specs);
  return group;
}
