/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* describe: writes results as text, for rows that were worked out by hand. */
#define _GNU_SOURCE
#include "describe.h"

#include <stdio.h>
#include <stdlib.h>

static char *
describe (const int32_t *kept, size_t kept_count, const uint8_t *outcome,
    const int32_t *suppressed_by, size_t count)
{
  static const char letters[] = "KSONFI";
  char *string = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&string, &length);

  if (!stream)
    abort ();
  for (size_t i = 0; i < count; i++) {
    fprintf (stream, "%s%c", i ? " " : "", outcome[i] < 6 ? letters[outcome[i]] : '?');
    if (outcome[i] == NMS_OUTCOME_SUPPRESSED)
      fprintf (stream, "%d", suppressed_by[i]);
    else if (suppressed_by[i] != -1)
      fprintf (stream, "(by %d)", suppressed_by[i]);
  }
  fprintf (stream, "%s|", count ? " " : "");
  for (size_t k = 0; k < kept_count; k++)
    fprintf (stream, " %d", kept[k]);
  fclose (stream);
  return string;
}

char *
describe_result (const nms_result *result, size_t count)
{
  return describe (result->kept, result->kept_count, result->outcome, result->suppressed_by, count);
}

char *
describe_reference (const RefResult *result)
{
  return describe (result->kept, result->kept_count, result->outcome, result->suppressed_by,
      result->count);
}
