/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpuspec: reads a spec and encodes limits, which a TPU needs as
 * sums of two numbers of binary32, because it has no binary64.
 */
#include "tpuspec.h"

#include <math.h>
#include <string.h>

/* Rounds to the nearest number of `bits` bits. */
static double
rounded (double value, int bits)
{
  uint64_t word, last = (uint64_t) 1 << (53 - bits);

  memcpy (&word, &value, sizeof word);
  word = (word + last / 2) & ~(last - 1);
  memcpy (&value, &word, sizeof value);
  return value;
}

void
nms__tpu_limit_of (double middle, float limit[3])
{
  limit[2] = 1.0f;
  if (middle < 0.0) { /* any intersection */
    limit[0] = limit[1] = 0.0f;
  } else if (middle < 0x1p-100) { /* 2^-150, which is not a number of binary32 */
    limit[0] = (float) (middle * 0x1p100);
    limit[1] = 0.0f;
    limit[2] = 0x1p100f;
  } else { /* 25 bits; nms_frame.limit may differ from the midpoint in later bits */
    double exact = rounded (middle, 25), high = rounded (exact, 12);
    limit[0] = (float) high;
    limit[1] = (float) (exact - high);
  }
}

void
nms__tpu_threshold_limit (float threshold, int inclusive, float limit[3])
{
  const float t = threshold < 0x1p-24f ? 0.0f : threshold;
  const float other = nextafterf (t, inclusive ? 0.0f : INFINITY);

  nms__tpu_limit_of (inclusive && t == 0.0f ? -1.0 : ((double) t + (double) other) / 2.0, limit);
}

void
nms__tpu_parameters (const float limit[3], int32_t most, float parameters[NMS__TPU_PARAMETERS])
{
  float rows[8] = { limit[0], limit[1], limit[2] };

  rows[NMS__TPU_MOST] = (float) most;
  for (int i = 0; i < NMS__TPU_PARAMETERS; i++)
    parameters[i] = rows[i / NMS__TPU_LANES];
}

int32_t
nms__tpu_images (const nms__tpu_spec *spec)
{
  return spec->images ? spec->images : 1;
}

int
nms__tpu_uses_class (const nms__tpu_spec *spec)
{
  return spec->classes && (!spec->class_agnostic || spec->class_caps);
}
