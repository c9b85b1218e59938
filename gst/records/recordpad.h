/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordpad: the source pad `boxes` of boxrecord, on request. It pushes the boxes of each
 * frame in the segment of the video: a buffer holds the line of JSON Lines of one frame (jsonl.h),
 * its end of line included, with the PTS and duration of the frame. A GAP event says that a span of
 * time has no boxes. The element keeps the pad in a
 * slot, which is NULL while there is none and which these functions guard by the object
 * lock of the element. Any thread may call them unless they say otherwise.
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

#define RECORD_TYPE_PAD (record_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxRecordPad, record_pad, RECORD, PAD, GstPad)

/* Returns the template of the pad, floating. */
GstPadTemplate *record_pad_template (void);

/* The methods request_new_pad and release_pad. Returns NULL if there is a pad already. */
GstPad *record_pad_request (GstElement *element, GstPadTemplate *template, GstBoxRecordPad **slot);
void record_pad_release (GstElement *element, GstPad *pad, GstBoxRecordPad **slot);

/* Pushes the boxes of a frame with the times of `buffer`, if there is a pad. A frame
 * without boxes is a GAP event, or a line without objects if *empty_lines is TRUE (read under
 * the object lock). A frame outside of the segment is left out. Returns GST_FLOW_ERROR if an
 * element downstream had an error, otherwise GST_FLOW_OK, because a pad that has no peer, is at
 * EOS or is flushing must not stop the video. Called by the streaming thread. */
GstFlowReturn record_pad_push (GstBoxRecordPad **slot, GstBaseTransform *element,
    const RecordedFrame *frame, GstBuffer *buffer, const gboolean *empty_lines);

/* Forwards GAP, EOS and flushes of the video, if there is a pad; ignores all other
 * events. Called by the thread of the event. */
void record_pad_event (GstBoxRecordPad **slot, GstBaseTransform *element, GstEvent *event);

G_END_DECLS
