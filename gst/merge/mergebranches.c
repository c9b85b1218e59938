/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergebranches: walks over the sink pads of an element. */
#include "mergebranches.h"

#include "mergepad.h"

static guint
get_children_count (GstChildProxy *proxy)
{
  guint count;

  GST_OBJECT_LOCK (proxy);
  count = GST_ELEMENT (proxy)->numsinkpads;
  GST_OBJECT_UNLOCK (proxy);
  return count;
}

static GObject *
get_child_by_index (GstChildProxy *proxy, guint index)
{
  GObject *pad;

  GST_OBJECT_LOCK (proxy);
  pad = g_list_nth_data (GST_ELEMENT (proxy)->sinkpads, index);
  if (pad)
    g_object_ref (pad);
  GST_OBJECT_UNLOCK (proxy);
  return pad;
}

void
merge_branches_init_proxy (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_children_count = get_children_count;
  proxy->get_child_by_index = get_child_by_index;
}

void
merge_branches_add_stats (GstElement *element, GstStructure *stats)
{
  GList *l;

  GST_OBJECT_LOCK (element);
  for (l = element->sinkpads; l; l = l->next)
    if (GST_IS_BOX_MERGE_PAD (l->data)) {
      GstStructure *branch = merge_pad_stats (l->data);

      gst_structure_set (stats, GST_OBJECT_NAME (l->data), GST_TYPE_STRUCTURE, branch, NULL);
      gst_structure_free (branch);
    }
  GST_OBJECT_UNLOCK (element);
}

static gboolean
start_branch (GstElement *element, GstPad *pad, gpointer user_data)
{
  return !GST_IS_BOX_MERGE_PAD (pad) || merge_pad_start (GST_BOX_MERGE_PAD (pad));
}

gboolean
merge_branches_start (GstElement *element)
{
  return gst_element_foreach_sink_pad (element, start_branch, NULL);
}

/* Compares by stream and group: a tee passes both on, and two sources of one file differ in the
 * group. Returns 0, for gst_iterator_filter, if the pad needs a seek of its own. */
static gint
needs_seek (gconstpointer a, gconstpointer b)
{
  GstPad *const pad = g_value_get_object (a), *const main = g_value_get_object (b);
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_STREAM_START, 0);
  GstEvent *main_event = gst_pad_get_sticky_event (main, GST_EVENT_STREAM_START, 0);
  const gchar *id = NULL, *main_id = NULL;
  guint group = 0, main_group = 0;
  gint same;

  if (event) {
    gst_event_parse_stream_start (event, &id);
    gst_event_parse_group_id (event, &group);
  }
  if (main_event) {
    gst_event_parse_stream_start (main_event, &main_id);
    gst_event_parse_group_id (main_event, &main_group);
  }
  same = pad != main && id && g_strcmp0 (id, main_id) == 0 && group == main_group;
  gst_clear_event (&event);
  gst_clear_event (&main_event);
  return same;
}

GstIterator *
merge_branches_iterate_sources (GstElement *element, GstPad *main)
{
  GValue value = G_VALUE_INIT;
  GstIterator *pads;

  g_value_init (&value, GST_TYPE_PAD);
  g_value_set_object (&value, main);
  pads = gst_iterator_filter (gst_element_iterate_sink_pads (element), needs_seek, &value);
  g_value_unset (&value);
  return pads;
}
