/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergequery: answers that need no state of the element. */
#include "mergequery.h"

#include "meta/boxmeta.h"

#include <gst/video/video.h>

static gboolean
answer_allocation (GstPad *src, gboolean is_main, GstQuery *query)
{
  if (!is_main)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  else if (!gst_pad_peer_query (src, query))
    GST_DEBUG_OBJECT (src, "downstream does not answer the query");
  box_meta_propose (query);
  return TRUE;
}

gboolean
merge_query_answer (GstPad *src, gboolean is_main, GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_ALLOCATION:
      return answer_allocation (src, is_main, query);
    case GST_QUERY_DRAIN:
      return !is_main; /* no memory of a branch is kept */
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
