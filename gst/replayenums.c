/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replayenums: names and descriptions, as gst-inspect-1.0 shows them. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "replayenums.h"

#include "boxmatch.h"
#include "boxmeta.h"

GType
replay_format_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {BOX_FORMAT_AUTO, "By the first line", "auto"},
    {BOX_FORMAT_JSONL, "JSON Lines, one object a frame", "jsonl"},
    {BOX_FORMAT_MOT, "MOT challenge text, one box a line", "mot"},
    {0, NULL, NULL},
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstBoxReplayFormat", values));
  return type;
}

GType
replay_match_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {BOX_MATCH_AUTO, "By time if the first record has one, else by index", "auto"},
    {BOX_MATCH_TIMESTAMP, "By stream time, the nearest record", "timestamp"},
    {BOX_MATCH_INDEX, "One after the other", "index"},
    {0, NULL, NULL},
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstBoxReplayMatch", values));
  return type;
}

GType
replay_existing_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {EXISTING_KEEP, "Stay beside the recorded ones", "keep"},
    {EXISTING_REPLACE, "Are removed from every buffer", "replace"},
    {0, NULL, NULL},
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstBoxReplayExisting", values));
  return type;
}

GType
replay_meta_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {BOX_META_ROI, "Regions of interest", "roi"},
#ifdef HAVE_ANALYTICS
    {BOX_META_ANALYTICS, "GstAnalytics object detections", "analytics"},
    {BOX_META_BOTH, "Each box as both, with one id", "both"},
#endif
    {0, NULL, NULL},
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstBoxReplayMeta", values));
  return type;
}

GType
replay_on_error_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {ON_ERROR_FAIL, "Stop with an error", "fail"},
    {ON_ERROR_SKIP, "Pass over the line, count it, warn at the first", "skip"},
    {0, NULL, NULL},
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstBoxReplayOnError", values));
  return type;
}
