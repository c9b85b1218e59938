/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dispatch: chooses the tables of kernels that this processor can run: the last one of `tables`
 * that runs here, or the one that NMS_ISA names. Tables that the build lacks are left out.
 */
#include "kernels.h"
#include "nmscore.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Conditions on which a processor runs an instruction set. The compiler's builtins execute CPUID,
 * and XGETBV to find out whether the operating system saves the registers. */
#define RUNS_scalar 1
#define RUNS_neon 1
#define RUNS_sse2 __builtin_cpu_supports ("sse2")
#define RUNS_avx2 (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("bmi2"))
#define RUNS_avx512 \
  (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512vl") \
      && __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512bw"))

/* meson.build defines NMS__ISAS: X (isa) for each one built, slowest first. */
#define X(isa) \
  extern const nms__kernels nms__kernels_##isa; \
  static int runs_##isa (void) { return RUNS_##isa; }
NMS__ISAS
#undef X

static const struct {
  const nms__kernels *kernels;
  int (*runs) (void);
} tables[] = {
#define X(isa) { &nms__kernels_##isa, runs_##isa },
  NMS__ISAS
#undef X
};

#define TABLES (sizeof tables / sizeof tables[0])

const nms__kernels *
nms__kernels_named (const char *name, const char **why_not)
{
  for (size_t i = 0; i < TABLES; i++)
    if (strcmp (tables[i].kernels->name, name) == 0) {
      if (tables[i].runs ())
        return tables[i].kernels;
      *why_not = "this processor or operating system does not support it";
      return NULL;
    }
#define X(isa) " " #isa
  *why_not = "unknown; this build has" NMS__ISAS;
#undef X
  return NULL;
}

static const nms__kernels *chosen;
static char reason[160];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
choose (void)
{
  const char *name = getenv ("NMS_ISA"), *why_not;

  for (size_t i = 0; i < TABLES; i++)
    if (tables[i].runs ())
      chosen = tables[i].kernels;
  if (!name || !*name)
    return;
  const nms__kernels *asked = nms__kernels_named (name, &why_not);
  if (asked)
    chosen = asked;
  else
    snprintf (reason, sizeof reason, "NMS_ISA=%.40s: %s; %s is used", name, why_not, chosen->name);
}

const nms__kernels *
nms__kernels_default (void)
{
  pthread_once (&once, choose);
  return chosen;
}

const char *
nms_isa_reason (void)
{
  pthread_once (&once, choose);
  return reason[0] ? reason : NULL;
}
