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
