/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxdecision: the property action. */
#include "boxdecision.h"

#include <gst/gst.h>

#include "enumtype.h"

DEFINE_ENUM_TYPE (gst_nms_action_get_type, "GstNmsAction",
    { GST_NMS_ACTION_REMOVE, "Remove the boxes that are not kept", "remove" },
    { GST_NMS_ACTION_TAG, "Remove no box; mark each box with a structure \"nms\"", "tag" })

GParamSpec *
box_action_spec (void)
{
  return g_param_spec_enum ("action", "Action",
      "What to do with boxes that are not kept. \"tag\" removes no box and adds to each region a "
      "structure \"nms\" with state (string: kept, or the field of stats that counts the box) and, "
      "for a suppressed box, suppressed-by (int: the index, from 0, of the box on the buffer that "
      "suppressed it); it relates a class nms:STATE to each GstAnalytics detection. Boxes that "
      "take no part get neither",
      gst_nms_action_get_type (), BOX_DEFAULT_ACTION,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
}
