/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dispatch: chooses the table of kernels that this processor can run: the last one of `tables`
 * that runs here, or the one that NMS_ISA names. Tables that the build lacks are left out.
 */
#include "kernels.h"
#include "nmscore.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const nms__kernels nms__kernels_scalar;
#ifdef NMS__HAVE_sse2
extern const nms__kernels nms__kernels_sse2;
#endif
#ifdef NMS__HAVE_avx2
extern const nms__kernels nms__kernels_avx2;
#endif
#ifdef NMS__HAVE_avx512
extern const nms__kernels nms__kernels_avx512;
#endif
#ifdef NMS__HAVE_neon
extern const nms__kernels nms__kernels_neon;
#endif

/* The compiler's builtins execute CPUID, and XGETBV to find out whether the operating system
 * saves the registers. */
#if defined(__x86_64__) || defined(__i386__)
static int
has_sse2 (void)
{
  return __builtin_cpu_supports ("sse2");
}

static int
has_avx2 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("bmi2");
}

static int
has_avx512 (void)
{
  return __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512vl")
      && __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512bw");
}
#endif

static int
always (void)
{
  return 1;
}

/* slowest first */
static const struct
{
  const nms__kernels *kernels;
  int (*runs) (void);
} tables[] = {
  { &nms__kernels_scalar, always },
#ifdef NMS__HAVE_neon
  { &nms__kernels_neon, always },
#endif
#ifdef NMS__HAVE_sse2
  { &nms__kernels_sse2, has_sse2 },
#endif
#ifdef NMS__HAVE_avx2
  { &nms__kernels_avx2, has_avx2 },
#endif
#ifdef NMS__HAVE_avx512
  { &nms__kernels_avx512, has_avx512 },
#endif
};

#define TABLES (sizeof tables / sizeof tables[0])

const nms__kernels *
nms__kernels_named (const char *name, const char **why_not)
{
  static const char *const known[] = { "scalar", "sse2", "avx2", "avx512", "neon" };

  for (size_t i = 0; i < TABLES; i++)
    if (strcmp (tables[i].kernels->name, name) == 0) {
      if (tables[i].runs ())
        return tables[i].kernels;
      *why_not = "this processor or operating system does not support it";
      return NULL;
    }
  *why_not = "unknown; there are scalar, sse2, avx2, avx512 and neon";
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp (known[i], name) == 0)
      *why_not = "not built for this kind of processor";
  return NULL;
}

static const nms__kernels *chosen;
static char refusal[160];
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
    snprintf (refusal, sizeof refusal, "NMS_ISA=%.40s: %s; %s is used", name, why_not,
        chosen->name);
}

const nms__kernels *
nms__kernels_default (void)
{
  pthread_once (&once, choose);
  return chosen;
}

const char *
nms_isa_refusal (void)
{
  pthread_once (&once, choose);
  return refusal[0] ? refusal : NULL;
}
