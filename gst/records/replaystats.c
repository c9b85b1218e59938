/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "replaystats.h"

GParamSpec *
replay_stats_spec (void)
{
  return g_param_spec_boxed ("stats", "Statistics",
      "Totals since READY, all guint64: frames (buffers passed), matched (buffers that got a "
      "record of their own), held (buffers that got an earlier record), unmatched (records not "
      "used), superseded (records whose time a later line has too), boxes (attached), skipped "
      "(malformed lines), ignored (MOT ground truth with flag 0), labels-refused (boxes whose "
      "label max-labels left out). Posted as element message \"boxreplay\" at the end of the "
      "stream",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

GstStructure *
replay_stats_structure (const ReplayStats *self)
{
  return gst_structure_new ("boxreplay", "frames", G_TYPE_UINT64, self->frames, "matched",
      G_TYPE_UINT64, self->counts.matched, "held", G_TYPE_UINT64, self->counts.held, "unmatched",
      G_TYPE_UINT64, self->counts.unmatched, "superseded", G_TYPE_UINT64, self->counts.superseded,
      "boxes", G_TYPE_UINT64, self->boxes, "skipped", G_TYPE_UINT64, self->counts.skipped,
      "ignored", G_TYPE_UINT64, self->ignored, "labels-refused", G_TYPE_UINT64,
      self->labels_refused, NULL);
}

void
replay_stats_warn (ReplayStats *self, GstElement *element, const gchar *source,
    const gchar *first_skipped, guint max_labels)
{
  if (self->counts.skipped > 0 && !self->warned_skipped) {
    self->warned_skipped = TRUE;
    GST_ELEMENT_WARNING (element, STREAM, DECODE,
        ("%s:%s (line skipped; later ones are only "
         "counted)",
            source, first_skipped),
        (NULL));
  }
  if (self->labels_refused > 0 && !self->warned_labels) {
    self->warned_labels = TRUE;
    GST_ELEMENT_WARNING (element, STREAM, DECODE,
        ("A box of %s is attached without its label, "
         "because max-labels (%u) is reached or the label is too long; later ones are only "
         "counted.",
            source, max_labels),
        (NULL));
  }
}

void
replay_stats_warn_unmatched (const ReplayStats *self, GstElement *element, const gchar *source)
{
  if (self->counts.matched + self->counts.held == 0 && self->counts.unmatched > 0
      && self->frames > 0)
    GST_ELEMENT_WARNING (element, STREAM, FAILED,
        ("None of the %" G_GUINT64_FORMAT " records of "
         "%s matches any of the %" G_GUINT64_FORMAT " frames",
            self->counts.unmatched, source, self->frames),
        ("Is it a recording of another video, or are its times "
         "shifted? match=index ignores the times, tolerance widens the search."));
}

void
replay_stats_warn_waiting (ReplayStats *self, GstElement *element, const gchar *source)
{
  if (self->warned_waiting)
    return;
  self->warned_waiting = TRUE;
  GST_ELEMENT_WARNING (element, RESOURCE, READ,
      ("%s has had no line for 1 s, so the stream waits "
       "for it",
          source),
      (NULL));
}
