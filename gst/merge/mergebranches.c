/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergebranches: walks over the sink pads of an element. */
#include "mergebranches.h"

#include "mergepad.h"

static guint
get_children_count (GstChildProxy * proxy)
{
  guint count;

  GST_OBJECT_LOCK (proxy);
  count = GST_ELEMENT (proxy)->numsinkpads;
  GST_OBJECT_UNLOCK (proxy);
  return count;
}

static GObject *
get_child_by_index (GstChildProxy * proxy, guint index)
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

/* Adds the counts of a branch to the total and as a structure of their own. */
static void
add_branch (GstBoxMergePad * pad, MergeCounts * total, GstStructure * stats)
{
  GstStructure *branch = merge_pad_stats (pad);

  merge_pad_add_counts (pad, total);
  gst_structure_set (stats, GST_OBJECT_NAME (pad), GST_TYPE_STRUCTURE, branch, NULL);
  gst_structure_free (branch);
}

GstStructure *
merge_branches_stats (GstElement * element, const MergeCounts * released, const guint64 * frames)
{
  GstStructure *stats = gst_structure_new_empty ("boxmerge");
  MergeCounts total;
  GList *l;

  GST_OBJECT_LOCK (element);
  total = *released;
  gst_structure_set (stats, "frames", G_TYPE_UINT64, *frames, NULL);
  for (l = element->sinkpads; l; l = l->next)
    if (GST_IS_BOX_MERGE_PAD (l->data))
      add_branch (l->data, &total, stats);
  GST_OBJECT_UNLOCK (element);
  merge_stats_write (&total, stats);
  return stats;
}

static gboolean
start_branch (GstElement * element, GstPad * pad, gpointer user_data)
{
  if (GST_IS_BOX_MERGE_PAD (pad))
    merge_pad_start (GST_BOX_MERGE_PAD (pad));
  return TRUE;
}

void
merge_branches_start (GstElement * element)
{
  gst_element_foreach_sink_pad (element, start_branch, NULL);
}
