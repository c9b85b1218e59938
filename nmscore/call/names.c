/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names: the names of engines, methods and metrics, the texts of error codes, and the version. */
#include "nmscore.h"

#define NAME(names, number) \
  ((number) >= 0 && (size_t) (number) < sizeof (names) / sizeof *(names) ? (names)[number] : NULL)

const char *
nms_engine_name (int number)
{
  static const char *const names[] = {
    [NMS_ENGINE_AUTO] = "auto",
    [NMS_ENGINE_SEQUENTIAL] = "sequential",
    [NMS_ENGINE_SORTED] = "sorted",
    [NMS_ENGINE_SPATIAL] = "spatial",
  };
  return number == NMS_ENGINE_ADDED ? "added" : NAME (names, number);
}

const char *
nms_method_name (int number)
{
#define NAME_OF(constant, number, family, by_score, changes, name, text) [number] = name,
  static const char *const names[] = { NMS_METHOD_LIST (NAME_OF) };
#undef NAME_OF
  return NAME (names, number);
}

const char *
nms_metric_name (int metric)
{
#define NAME_OF(constant, number, name, text) [number] = name,
  static const char *const names[] = { NMS_METRIC_LIST (NAME_OF) };
#undef NAME_OF
  return NAME (names, metric);
}

const char *
nms_fused_score_name (int fused_score)
{
  static const char *const names[] = { "avg", "max", "box-and-model-avg",
    "absent-model-aware-avg" };
  return NAME (names, fused_score);
}

const char *
nms_method_reason (int number, int metric)
{
  if (!nms_method_name (number))
    return "the method is unknown";
  if (!nms_metric_name (metric))
    return "the metric is unknown";
  if (number == NMS_METHOD_HARD || (metric != NMS_METRIC_DIOU && metric != NMS_METRIC_GIOU))
    return NULL;
  return "metrics diou and giou may be negative; only method hard takes them";
}

const char *
nms_strerror (int error)
{
#define CASE(name, value, text) \
  case name: \
    return text;
  switch (error) {
    NMS_ERROR_LIST (CASE)
    default:
      return "unknown error";
  }
#undef CASE
}

int
nms_version (void)
{
  return NMS_VERSION_NUMBER;
}
