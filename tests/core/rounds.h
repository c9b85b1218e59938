/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rounds: which rounds of random calls a test runs, as the environment may say. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* The number in NMS_TEST_SEED, the first round's seed, or NMS_TEST_ROUNDS. */
static inline uint64_t
rounds_from_environment (const char *name, uint64_t otherwise)
{
  const char *text = g_getenv (name);
  return text ? g_ascii_strtoull (text, NULL, 10) : otherwise;
}
