/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergequery: answers that need no state of the element. */
#include "mergequery.h"

#include "meta/boxmeta.h"

#include <gst/video/video.h>

gboolean
merge_query_answer_main (GstPad *src, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  if (!gst_pad_peer_query (src, query))
    GST_DEBUG_OBJECT (src, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

gboolean
merge_query_answer_branch (GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_ALLOCATION:
      gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
      box_meta_propose (query);
      return TRUE;
    case GST_QUERY_DRAIN:
      return TRUE;
    default:
      return FALSE;
  }
}

GstSample *
merge_query_sample (GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstSample *sample;
  GstCaps *caps;

  if (buffer == NULL)
    return NULL;
  caps = gst_pad_get_current_caps (GST_PAD (pad));
  sample = gst_sample_new (buffer, caps, &pad->segment, NULL);
  gst_clear_caps (&caps);
  gst_buffer_unref (buffer);
  return sample;
}
