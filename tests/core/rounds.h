/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rounds: the numbers of the random rounds, which the environment can set. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Returns the number in the environment variable `name`: NMS_TEST_SEED, the seed of the
 * first round, or NMS_TEST_ROUNDS. Returns `otherwise` if it is not set. */
static inline uint64_t
rounds_from_environment (const char *name, uint64_t otherwise)
{
  const char *text = g_getenv (name);
  return text ? g_ascii_strtoull (text, NULL, 10) : otherwise;
}
