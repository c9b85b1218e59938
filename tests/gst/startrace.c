/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* startrace: starting fails each time, because an error shows the location that was read. */
#include "startrace.h"

#include <string.h>

#include "textfiles.h"

#define STARTS 3000

typedef struct
{
  GstElement *element;
  gchar *locations[2];
  gint stop; /* boolean, accessed atomically */
} Race;

static gpointer
set_location (gpointer data)
{
  Race *race = data;

  for (guint i = 0; !g_atomic_int_get (&race->stop); i++)
    g_object_set (race->element, "location", race->locations[i % 2], NULL);
  return NULL;
}

static void
check_message (const Race *race, GstMessage *message)
{
  GError *error;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR)
    return;
  gst_message_parse_error (message, &error, NULL);
  if (!(strstr (error->message, race->locations[0]) != NULL
          || strstr (error->message, race->locations[1]) != NULL))
    g_error ("%s", error->message);
  g_error_free (error);
}

void
start_race (const gchar *factory)
{
  Race race = { gst_element_factory_make (factory, NULL),
    { text_file_path ("missing/a"), text_file_path ("missing/a-longer-name-of-a-file") }, FALSE };
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstMessage *message;
  GThread *setter;

  gst_element_set_bus (race.element, bus);
  g_object_set (race.element, "location", race.locations[0], NULL);
  setter = g_thread_new ("setter", set_location, &race);
  for (guint i = 0; i < STARTS; i++) {
    g_assert_cmpint (gst_element_set_state (race.element, GST_STATE_PAUSED), ==,
        GST_STATE_CHANGE_FAILURE);
    while ((message = gst_bus_pop (bus)) != NULL) {
      check_message (&race, message);
      gst_message_unref (message);
    }
    gst_element_set_state (race.element, GST_STATE_NULL);
  }
  g_atomic_int_set (&race.stop, TRUE);
  g_thread_join (setter);
  gst_element_set_bus (race.element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (race.element);
  g_free (race.locations[0]);
  g_free (race.locations[1]);
}
