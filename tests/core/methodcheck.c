/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* methodcheck: runs calls of methods on every instruction set that runs here. */
#include "methodcheck.h"

#include "describe.h"
#include "enginecheck.h"

#include <stdlib.h>

static const char *const sets[] = { "scalar", "sse2", "avx2", "avx512", "neon" };

void
methodcheck_row (gconstpointer data)
{
  const MethodRow *row = data;
  nms_context *ctx = nms_context_new ();
  MethodCall call;

  methodrow_call (row, &call);
  call.options.outputs = ENGINECHECK_ALL_OUTPUTS;
  for (size_t s = 0; s < G_N_ELEMENTS (sets); s++) {
    nms_result result = { .size = sizeof result };
    if (nms_context_set_isa (ctx, sets[s]) < 0)
      continue;
    int error = nms_run (ctx, &call.boxes, &call.options, &result);
    g_assert_cmpstr (nms_context_error (ctx), ==, "");
    g_assert_cmpint (error, ==, NMS_OK);
    char *is = describe_result (&result, row->count);
    char *kept = methodrow_describe (result.kept_count, result.kept_score, result.kept_box);
    g_assert_cmpstr (is, ==, row->expect);
    g_assert_cmpstr (kept, ==, row->kept);
    free (kept);
    free (is);
  }
  nms_context_free (&ctx);
}

void
methodcheck_call (nms_context *ctx, const BoxCall *call, uint64_t round)
{
  RefResult expected;

  ref_run (&call->boxes, &call->options, &expected);
  for (size_t s = 0; s < G_N_ELEMENTS (sets); s++) {
    nms_result result = { .size = sizeof result };
    if (nms_context_set_isa (ctx, sets[s]) < 0)
      continue;
    if (nms_run (ctx, &call->boxes, &call->options, &result) < 0)
      g_error ("%s", nms_context_error (ctx));
    char *difference = enginecheck_difference_of (&result, &expected, ENGINECHECK_ALL_OUTPUTS);
    if (difference)
      g_error ("round %" G_GUINT64_FORMAT ", %s, metric %u, %zu boxes: %s", round,
          nms_context_engine_in_use (ctx), call->options.metric, call->boxes.count, difference);
  }
  ref_result_clear (&expected);
}
