/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the whole NMS call as one program, run by the eager executor, with the
 * reference: random calls of every kind, with and without divisions, padded and not;
 * the least and greatest thresholds; the number of programs that a stream needs.
 */
#include "lazycontext.h"
#include "lazynms.h"
#include "lazyscoped.h"
#include "scoped.h"
#include "testrunner.h"

#include <math.h>

static void
test_random (void)
{
  uint64_t rounds = testrunner_rounds (600);
  uint64_t first = testrunner_number ("NMS_TEST_SEED", 1);

  for (uint64_t i = 0; i < rounds; i++) {
    BoxRandom random = { first + i };
    g_auto (BoxCall) call = { 0 };
    size_t count = boxrandom_below (&random, i % 8 ? 60 : 300);

    boxcall_random (&call, &random, (int) (i % BOXGEN_TEMPERS), count);
    call.options.max_candidates = 0; /* the graph does not select candidates, nor compare sizes */
    call.options.min_size_ratio = 0;
    size_t padded = count + !count;
    if (i % 3)
      for (padded = 64; padded < count;)
        padded *= 2;
    g_test_message ("seed %" G_GUINT64_FORMAT, first + i);
    lazynms_check (lz, &call.boxes, &call.options, padded,
        (i % 3 ? LAZYNMS_ALL : 0) | (i & 1 ? NMS_LAZY_NO_DIVISION : 0));
  }
}

/* Tests pairs whose overlap is at, just below and just above the threshold. */
static void
test_borderline (void)
{
  BoxRandom random = { 99 };
  const size_t count = 128;
  g_autofree float *rows = g_new (float, 4 * count);
  g_autofree float *scores = g_new (float, count);
  g_autofree int32_t *classes = g_new (int32_t, count);
  uint64_t rounds = testrunner_rounds (100);
  nms_class_options own[64];

  for (uint64_t round = 0; round < rounds; round++) {
    const float scale = ldexpf (1.0f, (int) boxrandom_below (&random, 160) - 90);
    nms_boxes boxes = { .size = sizeof boxes, .count = count };
    nms_options options;
    nms_options_init (&options, sizeof options);
    for (size_t i = 0; i < count; i += 2) {
      float *a = rows + 4 * i, *b = a + 4;
      for (int k = 0; k < 2; k++) {
        a[k] = 0.0f;
        b[k] = boxrandom_unit (&random) * scale;
        a[k + 2] = (1.0f + boxrandom_unit (&random)) * scale;
        b[k + 2] = b[k] + (0.2f + boxrandom_unit (&random)) * scale;
      }
      scores[i] = 1.0f;
      scores[i + 1] = 0.5f;
      classes[i] = classes[i + 1] = (int32_t) i;
      float t = ref_iou (a, b);
      int side = (int) boxrandom_below (&random, 3);
      t = side == 0 ? t : nextafterf (t, side == 1 ? 0.0f : 1.0f);
      own[i / 2] = (nms_class_options) { .size = sizeof own[0],
        .class_id = (int32_t) i,
        .set = NMS_CLASS_IOU_THRESHOLD,
        .iou_threshold = CLAMP (t, 0.0f, 1.0f) };
    }
    nms_boxes_set_rows (&boxes, rows);
    boxes.score.data = scores;
    boxes.class_id.data = classes;
    options.class_options = own;
    options.class_option_count = 64;
    options.inclusive = round & 1;
    lazynms_check (lz, &boxes, &options, count, 0);
    lazynms_check (lz, &boxes, &options, count, NMS_LAZY_NO_DIVISION);
  }
}

/* Tests threshold 0 with quotients that are subnormal or round to 0. */
static void
test_vanishing_overlaps (void)
{
  const float small[] = { 0x1p-50f, 0x1.000002p-50f, 0x1p-49f, 0x1p-20f, 1.0f, 0x1p40f };
  const float large[] = { 1e18f, 0x1p59f, 0x1p30f, 0x1p25f, 1.0f, 0x1p-49f };

  for (size_t i = 0; i < G_N_ELEMENTS (small); i++)
    for (size_t k = 0; k < G_N_ELEMENTS (large) * G_N_ELEMENTS (large); k++)
      for (int inclusive = 0; inclusive < 2; inclusive++) {
        const float w = large[k % G_N_ELEMENTS (large)], h = large[k / G_N_ELEMENTS (large)];
        float rows[] = { 0, 0, w, h, -w, -h, small[i], small[i], 0, 0, small[i], small[i] };
        nms_boxes boxes = { .size = sizeof boxes, .count = 3 };
        nms_options options;
        nms_options_init (&options, sizeof options);
        options.iou_threshold = 0.0f;
        options.inclusive = (uint8_t) inclusive;
        nms_boxes_set_rows (&boxes, rows);
        lazynms_check (lz, &boxes, &options, 3, 0);
        lazynms_check (lz, &boxes, &options, 3, NMS_LAZY_NO_DIVISION);
      }
}

static void
test_keys (void)
{
  const float scores[] = { -INFINITY, -3e38f, -1.0f, -0x1p-149f, -0.0f, 0.0f, 0x1p-149f, 0x1p-126f,
    1.0f, 3e38f, INFINITY, NAN };
  const int32_t n = G_N_ELEMENTS (scores);
  int32_t keys[G_N_ELEMENTS (scores)];
  uint8_t valid[G_N_ELEMENTS (scores)];

  nms_lazy_tensor there = nms_lazy_broadcast (lz, nms_lazy_pred (lz, 1), 1, &n, 0);
  nms_lazy_tensor want[] = {
    nms_lazy_order_key (lz, nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, scores), &there), 0
  };
  want[1] = there;
  g_assert_cmpint (nms_lazy_read (lz, 2, want, (void *[]) { keys, valid }), ==, NMS_OK);
  nms_lazy_clear (lz);
  for (int i = 0; i < n - 1; i++) {
    g_assert_cmpint (keys[i], ==, nms_lazy_order_key_of (scores[i]));
    g_assert_cmpint (valid[i], ==, 1);
    if (i)
      g_assert_cmpint ((keys[i] > keys[i - 1]), ==, (scores[i] > scores[i - 1]));
  }
  g_assert_cmpint (valid[n - 1], ==, 0);
  g_assert_cmpfloat (nms_lazy_limit_of (0.5f, 0), ==, 0.5f);
  g_assert_cmpfloat (nms_lazy_limit_of (0x1p-25f, 0), ==, 0.0f);
  g_assert_cmpfloat (nms_lazy_limit_of (0.5f, 1), ==, nextafterf (0.5f, 0.0f));
  g_assert_cmpfloat (nms_lazy_limit_of (0.0f, 1), <, 0.0f);
}

/* A stream of frames of 1 to 1000 boxes whose settings change in every frame. */
static void
test_stream (void)
{
  g_autoptr (nms_lazy_cache) own = nms_lazy_cache_new (NULL, 0);
  g_autoptr (nms_lazy) stream = nms_lazy_new (own);
  nms_lazy_counters counters = { .size = sizeof counters };
  BoxRandom random = { 7 };

  for (int frame = 0; frame < 300; frame++) {
    size_t count = 1 + boxrandom_below (&random, frame % 10 ? 100 : 1000), padded = 128;
    g_auto (BoxCall) call = { 0 };

    boxcall_random (&call, &random, BOXGEN_CROWD, count);
    call.options.iou_threshold = boxrandom_unit (&random);
    call.options.max_detections = boxrandom_below (&random, 40);
    call.options.class_option_count = 0;
    call.options.max_candidates = 0;
    call.options.min_size_ratio = 0;
    while (padded < count)
      padded *= 2;
    lazynms_check (stream, &call.boxes, &call.options, padded, LAZYNMS_ALL);
  }
  nms_lazy_cache_counters (own, &counters);
  g_assert_cmpuint (counters.traces, ==, 300);
  /* 128 256 512 1024, with and without class options for agnostic or not */
  g_assert_cmpuint (counters.misses, <=, 8);
}

/* The columns of several images, which the program is given as vectors, one image at a time, and
 * as matrices. */
enum { IMAGES = 5, BOXES = 70, ALL = IMAGES * BOXES };

typedef struct {
  float corner[4][ALL], score[ALL], limit[ALL];
  int32_t class_id[ALL], class_cap[ALL], parent[ALL];
  int32_t cap;
} Images;

static void
make_images (Images *m, BoxRandom *random)
{
  for (int i = 0; i < ALL; i++) {
    const int few = i / BOXES == 1; /* the second image keeps few boxes */
    for (int k = 0; k < 2; k++) {
      m->corner[k][i] = few ? 0.0f : (float) boxrandom_below (random, 20);
      m->corner[k + 2][i] = m->corner[k][i] + (float) boxrandom_below (random, 9);
    }
    m->score[i] = (i / BOXES == 2) ? NAN : (float) boxrandom_below (random, 9);
    m->class_id[i] = (int32_t) boxrandom_below (random, 3);
    m->limit[i] = nms_lazy_limit_of (0.1f + 0.2f * (float) m->class_id[i], 0);
    m->class_cap[i] = 3 * m->class_id[i];
    m->parent[i] = (int32_t) boxrandom_below (random, BOXES + 1) - 1;
  }
  m->cap = (int32_t) boxrandom_below (random, 30);
}

/* Records the images from `first` on, as vectors or matrices of the extents `dims`. */
static nms_lazy_kept
record_images (const Images *m, int first, int rank, const int32_t *dims, unsigned options)
{
  const int has_caps = options & 1, has_parents = options >> 1 & 1;
  nms_lazy_boxes b = { 0 };
  nms_lazy_tensor *const corners[] = { &b.x1, &b.y1, &b.x2, &b.y2 };

  for (int k = 0; k < 4; k++)
    *corners[k] = nms_lazy_input (lz, NMS_LAZY_F32, rank, dims, m->corner[k] + first);
  b.valid = nms_lazy_clean_boxes (lz, &b);
  b.key = nms_lazy_order_key (lz, nms_lazy_input (lz, NMS_LAZY_F32, rank, dims, m->score + first),
      &b.valid);
  b.limit = nms_lazy_input (lz, NMS_LAZY_F32, rank, dims, m->limit + first);
  b.class_id = nms_lazy_input (lz, NMS_LAZY_S32, rank, dims, m->class_id + first);
  if (has_caps)
    b.class_cap = nms_lazy_input (lz, NMS_LAZY_S32, rank, dims, m->class_cap + first);
  if (has_parents)
    b.parent = nms_lazy_input (lz, NMS_LAZY_S32, rank, dims, m->parent + first);
  b.cap = nms_lazy_input_s32 (lz, m->cap);
  return nms_lazy_nms (lz, &b, options & 4 ? NMS_LAZY_NO_DIVISION : 0);
}

static void
read_kept (nms_lazy_kept kept, int32_t *picks, int32_t *count, int32_t *state)
{
  const nms_lazy_tensor want[] = { kept.picks, kept.count, kept.state };

  g_assert_cmpint (nms_lazy_read (lz, 3, want, (void *[]) { picks, count, state }), ==, NMS_OK);
  nms_lazy_clear (lz);
}

/* Several images together have the results that each has alone. */
static void
test_images (void)
{
  static const int32_t both[] = { IMAGES, BOXES }, one[] = { BOXES };
  int32_t picks[2][ALL], count[2][IMAGES], state[2][ALL];
  BoxRandom random = { 5 };
  Images m;

  for (unsigned round = 0; round < 40; round++) {
    make_images (&m, &random);
    read_kept (record_images (&m, 0, 2, both, round), picks[0], count[0], state[0]);
    for (int i = 0; i < IMAGES; i++)
      read_kept (record_images (&m, i * BOXES, 1, one, round), picks[1] + i * BOXES, count[1] + i,
          state[1] + i * BOXES);
    g_assert_cmpmem (count[0], sizeof count[0], count[1], sizeof count[1]);
    g_assert_cmpmem (picks[0], sizeof picks[0], picks[1], sizeof picks[1]);
    g_assert_cmpmem (state[0], sizeof state[0], state[1], sizeof state[1]);
    g_assert_cmpint (count[0][2], ==, 0);
  }
}

static void
test_errors (void)
{
  const int32_t n = 4;
  const float x[4] = { 0 };
  nms_lazy_boxes b = { 0 };
  nms_lazy_kept kept = nms_lazy_nms (lz, &b, 0);

  g_assert_cmpint (nms_lazy_status (lz), ==, NMS_ERROR_ARGUMENT);
  g_assert_true (kept.picks == NMS_LAZY_NONE && kept.state == NMS_LAZY_NONE);
  nms_lazy_clear (lz);
  b.x1 = b.y1 = b.x2 = b.y2 = nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, x);
  b.key = b.x1; /* not S32 */
  b.limit = nms_lazy_f32 (lz, 0.5f);
  nms_lazy_nms (lz, &b, 0);
  g_assert_cmpint (nms_lazy_status (lz), ==, NMS_ERROR_ARGUMENT);
  g_test_message ("%s", nms_lazy_error (lz));
  nms_lazy_clear (lz);
}

static const TestCase cases[] = { CASE (test_random), CASE (test_borderline),
  CASE (test_vanishing_overlaps), CASE (test_keys), CASE (test_stream), CASE (test_images),
  CASE (test_errors), { NULL } };

TEST_PROGRAM (cases, lazycontext_start, lazycontext_finish);
