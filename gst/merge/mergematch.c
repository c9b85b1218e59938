/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergematch: compares running times. */
#include "mergematch.h"

#define HALF_OF_UNKNOWN_FRAME (20 * GST_MSECOND)

static gint64
running_time (const GstSegment *segment, GstClockTime position)
{
  guint64 time;
  gint sign;

  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (position))
    return MERGE_NO_TIME;
  sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, position, &time);
  return sign == 0 || time > G_MAXINT64 ? MERGE_NO_TIME : sign * (gint64) time;
}

gint64
merge_match_time (const GstSegment *segment, GstBuffer *buffer)
{
  return running_time (segment, GST_BUFFER_PTS (buffer));
}

gint64
merge_match_half_frame (GstBuffer *buffer, gint rate_n, gint rate_d)
{
  GstClockTime duration = GST_BUFFER_DURATION (buffer);

  if (GST_CLOCK_TIME_IS_VALID (duration) && duration > 0)
    return (gint64) MIN (duration / 2, G_MAXINT64 / 4);
  if (rate_n > 0 && rate_d > 0)
    return (gint64) gst_util_uint64_scale (GST_SECOND / 2, (guint) rate_d, (guint) rate_n);
  return HALF_OF_UNKNOWN_FRAME;
}

static GQuark
gap_quark (void)
{
  return g_quark_from_static_string ("boxmerge-gap");
}

void
merge_match_mark_gap (GstBuffer *buffer, GstEvent *event)
{
  gst_mini_object_set_qdata (GST_MINI_OBJECT (buffer), gap_quark (), gst_event_ref (event),
      (GDestroyNotify) gst_event_unref);
}

GstEvent *
merge_match_gap (GstBuffer *buffer)
{
  return gst_mini_object_get_qdata (GST_MINI_OBJECT (buffer), gap_quark ());
}

/* A GAP that ends within the tolerance after the main buffer does not cover it, because
 * its end may be rounded; one that begins that close does. */
static MergeRelation
gap_relation (const MergeMoment *moment, const GstSegment *segment, GstBuffer *gap, gint64 start)
{
  gint64 end = start + moment->tolerance;

  if (GST_BUFFER_DURATION_IS_VALID (gap)) {
    const gint64 last = running_time (segment, GST_BUFFER_PTS (gap) + GST_BUFFER_DURATION (gap));

    if (last != MERGE_NO_TIME)
      end = MAX (end, last - moment->tolerance);
  }
  return end < moment->time ? MERGE_EARLIER : MERGE_LATER;
}

MergeRelation
merge_match_relation (const MergeMoment *moment, const GstSegment *segment, GstBuffer *buffer)
{
  const gint64 time = merge_match_time (segment, buffer);
  const gboolean gap = merge_match_gap (buffer) != NULL;

  if (time == MERGE_NO_TIME || moment->time == MERGE_NO_TIME)
    return gap ? MERGE_EARLIER : MERGE_MATCHES;
  if (gap)
    return gap_relation (moment, segment, buffer, time);
  if (time < moment->time - moment->tolerance)
    return MERGE_EARLIER;
  return time > moment->time + moment->tolerance ? MERGE_LATER : MERGE_MATCHES;
}

gboolean
merge_match_is_late (const MergeMoment *moment, gint64 time)
{
  return moment->previous != MERGE_NO_TIME && time <= moment->previous + moment->tolerance;
}
