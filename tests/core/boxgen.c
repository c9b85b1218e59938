/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxgen: draws each part of a call (corners, scores, classes, options) at random. */
#include "boxgen.h"
#include "reference.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define ONE(...) +1
#define COUNT(array) (sizeof (array) / sizeof *(array))

/* splitmix64, a public-domain generator by Sebastiano Vigna */
uint64_t
boxrandom_bits (BoxRandom *random)
{
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  for (int i = 0; i < 2 && random->left > 0; i++, random->left--)
    z = z >> 8 | (uint64_t) *random->input++ << 56;
  return z;
}

uint32_t
boxrandom_below (BoxRandom *random, uint32_t limit)
{
  return (uint32_t) (((boxrandom_bits (random) >> 32) * limit) >> 32);
}

float
boxrandom_unit (BoxRandom *random)
{
  return (float) (boxrandom_bits (random) >> 40) * 0x1p-24f;
}

static bool
chance (BoxRandom *random, uint32_t percent)
{
  return boxrandom_below (random, 100) < percent;
}

static void *
allocate (size_t count, size_t size)
{
  void *memory = malloc (count ? count * size : 1);
  if (!memory)
    abort ();
  return memory;
}

static float
hostile_float (BoxRandom *random)
{
  static const float values[] = { 0.0f, -0.0f, 1.0f, -1.0f, NAN, INFINITY, -INFINITY, 1e18f, -1e18f,
    0x1.bc16d8p+59f, -0x1.bc16d8p+59f, FLT_MAX, -FLT_MAX, FLT_MIN, 0x1p-149f, -0x1p-149f, 0x1p-50f,
    0x1.000002p-50f, -0x1p-50f, 0x1p-49f, 16777216.0f, 0.1f, 0.2f, 0.3f, 100.0f, 101.0f };
  return values[boxrandom_below (random, COUNT (values))];
}

/* Draws a box from its corner and its extents, of one of the layouts beyond BOXGEN_TEMPERS. */
static void
box_of_layout (BoxRandom *random, int layout, size_t i, size_t n, float box[4])
{
  const float side = 4 * sqrtf ((float) n), at = (float) i;
  const bool tall = chance (random, 50);

  box[0] = side * boxrandom_unit (random);
  box[1] = side * boxrandom_unit (random);
  box[2] = 1 + 11 * boxrandom_unit (random);
  box[3] = 1 + 11 * boxrandom_unit (random);
  switch (layout) {
    case BOXGEN_ONE_SPOT:
      for (int c = 0; c < 4; c++)
        box[c] = boxrandom_unit (random) + (c < 2 ? 0.0f : 20.0f);
      break;
    case BOXGEN_ALL_SIZES:
      box[2] = expf (20 * boxrandom_unit (random) - 10);
      box[3] = expf (20 * boxrandom_unit (random) - 10);
      break;
    case BOXGEN_BARS:
      box[tall ? 3 : 2] = 1000;
      break;
    case BOXGEN_GIANT:
      if (i == n / 2) {
        box[0] = box[1] = -1e17f;
        box[2] = box[3] = 2e17f;
      }
      break;
    case BOXGEN_HUGE:
      for (int c = 0; c < 4; c++)
        box[c] = c < 2 ? 1e18f * (1.9f * boxrandom_unit (random) - 1) : 1e17f * box[c] / 12;
      break;
    case BOXGEN_LINE:
      box[n % 2] = at / 2;
      box[1 - n % 2] = 0;
      break;
    case BOXGEN_SMALL: /* around 2^-50, the smallest extent that can overlap */
      for (int c = 0; c < 4; c++)
        box[c] = ldexpf (boxrandom_unit (random) * (c < 2 && tall ? -1 : 1),
            -40 - (int) boxrandom_below (random, 13));
      break;
    case BOXGEN_OUTLIERS:
      if (chance (random, 5)) {
        box[0] = 2e18f * boxrandom_unit (random) - 1e18f;
        box[1] = 2e9f * boxrandom_unit (random) - 1e9f;
      } else if (chance (random, 10)) {
        box[2] = 0;
      }
      break;
    case BOXGEN_CONCENTRIC: /* down to extents whose products are subnormal */
      box[2] = (float) (1e6 * exp (-(double) i * (80.0 / (double) n)));
      box[3] = i % 5 ? box[2] : 1.0f;
      box[0] = box[1] = -box[2] / 2;
      break;
    case BOXGEN_DIAGONAL: /* cells whose numbers would be equal if they simply wrapped around */
      box[0] = -3 * at;
      box[1] = 6 * at;
      box[2] = box[3] = 4;
      break;
    case BOXGEN_FAR_TILES: { /* outliers in many tiles of a grid, at the ends of the coordinates */
      const float far = i % 3 ? 0 : ldexpf (i % 2 ? 1 : -1, (int) (i % 60));
      box[0] = far + (float) (i % 50) * 3;
      box[1] = far * (float) (i % 7) + (float) (i / 50);
      break;
    }
    default: /* BOXGEN_APART */
      box[0] = (float) (i % 300) * 5;
      box[1] = (float) (i / 300) * 5;
      box[2] = box[3] = 4;
      break;
  }
  for (int c = 2; c < 4; c++)
    box[c] = fminf (fmaxf (box[c - 2] + box[c], -1e18f), 1e18f);
}

static void
box_of_temper (BoxRandom *random, int temper, float scale, float box[4])
{
  float w = 40 * boxrandom_unit (random), h = 40 * boxrandom_unit (random);

  box[0] = 100 * boxrandom_unit (random);
  box[1] = 100 * boxrandom_unit (random);
  switch (temper) {
    case BOXGEN_GRID:
      for (int i = 0; i < 2; i++)
        box[i] = (float) boxrandom_below (random, 6);
      w = (float) boxrandom_below (random, 6);
      h = (float) boxrandom_below (random, 6);
      break;
    case BOXGEN_EQUAL:
      box[0] = box[1] = (float) boxrandom_below (random, 3);
      w = h = 3;
      break;
    case BOXGEN_CROWD:
    case BOXGEN_SCALED:
      w = 20 + w / 5;
      h = 40 + h / 5;
      box[0] = 50 * (float) boxrandom_below (random, 12) + 15 * boxrandom_unit (random);
      box[1] = 60 * (float) boxrandom_below (random, 6) + 15 * boxrandom_unit (random);
  }
  box[2] = box[0] + w;
  box[3] = box[1] + h;
  for (int i = 0; i < 4; i++) {
    box[i] *= scale;
    if (temper == BOXGEN_HOSTILE && chance (random, 25))
      box[i] = hostile_float (random);
  }
}

/* Returns where corner k of box i is. */
static float *
corner_at (const BoxCall *call, size_t i, int k)
{
  const nms_column *columns[4] = { &call->boxes.x1, &call->boxes.y1, &call->boxes.x2,
    &call->boxes.y2 };
  const ptrdiff_t stride = columns[k]->stride ? columns[k]->stride : (ptrdiff_t) sizeof (float);

  return (float *) columns[k]->data + (ptrdiff_t) i * stride / (ptrdiff_t) sizeof (float);
}

void
boxcall_corners (const BoxCall *call, size_t i, float box[4])
{
  for (int k = 0; k < 4; k++)
    box[k] = *corner_at (call, i, k);
}

void
boxcall_set_corners (const BoxCall *call, size_t i, const float box[4])
{
  for (int k = 0; k < 4; k++)
    *corner_at (call, i, k) = box[k];
}

float *
boxcall_add_angles (BoxCall *call)
{
  call->angle = allocate (call->boxes.count, sizeof *call->angle);
  call->boxes.angle = (nms_column) { call->angle, 0 };
  return call->angle;
}

/* Stores corners as rows, as columns, or as rows from the last to the first. */
static void
make_corners (BoxCall *call, BoxRandom *random, int temper)
{
  const size_t n = call->boxes.count;
  const ptrdiff_t row = 4 * sizeof (float);
  nms_column *columns[4] = { &call->boxes.x1, &call->boxes.y1, &call->boxes.x2, &call->boxes.y2 };
  int form = (int) boxrandom_below (random, 3);
  float scale = 1.0f;

  call->corners = allocate (4 * n, sizeof *call->corners);
  if (temper == BOXGEN_SCALED)
    scale = ldexpf (1.0f, (int) boxrandom_below (random, 112) - 62);
  for (int k = 0; k < 4; k++) {
    if (form == 0)
      *columns[k] = (nms_column) { call->corners + k, row };
    else if (form == 1)
      *columns[k] = (nms_column) { call->corners + n * (size_t) k, 0 };
    else
      *columns[k] = (nms_column) { call->corners + (n ? 4 * (n - 1) : 0) + k, -row };
  }
  for (size_t i = 0; i < n; i++) {
    float box[4];
    if (temper < BOXGEN_TEMPERS)
      box_of_temper (random, temper, scale, box);
    else
      box_of_layout (random, temper, i, n, box);
    boxcall_set_corners (call, i, box);
  }
  if (n && temper < BOXGEN_TEMPERS && chance (random, 10)) { /* one box is far from all others */
    const float far = ldexpf (1.0f, 4 + (int) boxrandom_below (random, 30)), end = far + far / 8;
    boxcall_set_corners (call, boxrandom_below (random, (uint32_t) n),
        (float[4]) { far, far, end, end });
  }
}

static void
make_scores (BoxCall *call, BoxRandom *random, int temper)
{
  uint32_t levels = 1 + boxrandom_below (random, 6);
  bool distinct = chance (random, 60);

  if (chance (random, 5))
    return;
  call->score = allocate (call->boxes.count, sizeof *call->score);
  call->boxes.score = (nms_column) { call->score, 0 };
  for (size_t i = 0; i < call->boxes.count; i++) {
    if (temper == BOXGEN_HOSTILE && chance (random, 20))
      call->score[i] = hostile_float (random);
    else if (distinct)
      call->score[i] = 2 * boxrandom_unit (random) - 1;
    else
      call->score[i] = (float) boxrandom_below (random, levels) - 2;
    if (chance (random, 5))
      call->score[i] = -call->score[i]; /* turns some zeros into -0 */
  }
}

/* Returns a random id of `classes` ones. Their kind is the remainder of `classes` by 5. */
static int32_t
random_class (BoxRandom *random, uint32_t classes)
{
  static const int32_t few[] = { 0, -1, INT32_MIN, INT32_MAX, 7, 65536, -65536, INT32_MIN + 1 };
  const uint32_t k = boxrandom_below (random, classes);

  switch (classes % 5) {
    case 0: /* spread over all 32-bit numbers */
      return (int32_t) (0x80000000u + k * 4000037u);
    case 1: /* equal in their lower bits */
      return (int32_t) (k << 20);
    case 2: /* equal in the upper bits of the product with 2654435769 */
      return (int32_t) (k * 0x10000u * 0x144cbc89u);
    case 3:
      return few[k % COUNT (few)];
    default:
      return -1 - (int32_t) k;
  }
}

static void
make_others (BoxCall *call, BoxRandom *random, uint32_t classes)
{
  const size_t n = call->boxes.count;

  if (classes) {
    call->class_id = allocate (n, sizeof *call->class_id);
    call->boxes.class_id = (nms_column) { call->class_id, 0 };
    for (size_t i = 0; i < n; i++)
      call->class_id[i] = random_class (random, classes);
  }
  if (chance (random, 20)) {
    call->exclude = allocate (n, sizeof *call->exclude);
    call->boxes.exclude = (nms_column) { call->exclude, 0 };
    for (size_t i = 0; i < n; i++)
      call->exclude[i] = chance (random, 15) ? (uint8_t) (1 + boxrandom_below (random, 255)) : 0;
  }
  if (chance (random, 25)) {
    call->parent = allocate (n, sizeof *call->parent);
    call->boxes.parent = (nms_column) { call->parent, 0 };
    const uint32_t parents = chance (random, 50) ? (uint32_t) n : MIN ((uint32_t) n, 4);
    for (size_t i = 0; i < n; i++) {
      call->parent[i] = chance (random, 50) ? -1 : (int32_t) boxrandom_below (random, parents);
      if (chance (random, 5))
        call->parent[i] = random_class (random, 8);
    }
  }
}

static float
score_near (const BoxCall *call, BoxRandom *random)
{
  float s = 2 * boxrandom_unit (random) - 1;

  if (call->score && call->boxes.count)
    s = call->score[boxrandom_below (random, (uint32_t) call->boxes.count)];
  if (isnan (s) || chance (random, 50))
    return -INFINITY;
  return s;
}

/* Draws a threshold that equals the overlap of two of the boxes, or is one float off. */
static float
iou_near (const BoxCall *call, BoxRandom *random)
{
  static const float plain[] = { 0.0f, 1.0f, 0.5f, 1.0f / 3, 0.25f, 0.45f, 0.1f, 0x1p-24f, 0x1p-25f,
    0x1.fffffep-25f, -0.0f, 0x1p-149f, 0.75f, 0.6f, 0x1.fffffep-1f };
  uint32_t n = (uint32_t) call->boxes.count;

  for (int attempt = 0; n > 1 && attempt < 40; attempt++) {
    float a[4], b[4], t;
    boxcall_corners (call, boxrandom_below (random, n), a);
    boxcall_corners (call, boxrandom_below (random, n), b);
    t = ref_iou (a, b);
    if (t <= 0 || t >= 1)
      continue;
    const uint32_t side = boxrandom_below (random, 5);
    return side < 2 ? nextafterf (t, (float) side) : t;
  }
  return plain[boxrandom_below (random, COUNT (plain))];
}

/* Draws a min_size_ratio: often the quotient of the areas of two of the boxes, or one float off. */
static float
size_ratio_near (const BoxCall *call, BoxRandom *random)
{
  uint32_t n = (uint32_t) call->boxes.count;

  for (int attempt = 0; n > 1 && attempt < 20; attempt++) {
    float a[4], b[4], ratio;
    boxcall_corners (call, boxrandom_below (random, n), a);
    boxcall_corners (call, boxrandom_below (random, n), b);
    ratio = (a[2] - a[0]) * (a[3] - a[1]) / ((b[2] - b[0]) * (b[3] - b[1]));
    if (ratio > 0 && ratio < 1)
      return nextafterf (ratio, (float) boxrandom_below (random, 2));
    if (ratio == 1)
      return 1;
  }
  return boxrandom_unit (random);
}

static void
make_options (BoxCall *call, BoxRandom *random, uint32_t classes)
{
  nms_options *o = &call->options;
  uint32_t n = (uint32_t) call->boxes.count;

  nms_options_init (o, sizeof *o);
  o->iou_threshold = chance (random, 10) ? boxrandom_unit (random) : iou_near (call, random);
  if (chance (random, 10))
    o->iou_threshold = 1e-3f
        * ldexpf (boxrandom_unit (random), -(int) boxrandom_below (random, 40));
  o->score_threshold = score_near (call, random);
  o->inclusive = chance (random, 40);
  o->score_strict = chance (random, 30);
  o->class_agnostic = chance (random, 30);
  if (chance (random, 30)) /* often far below the number of boxes */
    o->max_detections = 1 + boxrandom_below (random, chance (random, 50) ? n / 8 + 2 : n + 2);
  if (chance (random, 30))
    o->max_per_class = 1 + boxrandom_below (random, n / 2 + 2);
  if (chance (random, 25))
    o->max_candidates = 1 + boxrandom_below (random, n + 2);
  if (chance (random, 15))
    o->min_size_ratio = size_ratio_near (call, random);
  if (!chance (random, 40))
    return;

  for (int i = 0; i < BOXGEN_CLASS_OPTIONS; i++) {
    nms_class_options *c = &call->class_options[o->class_option_count];
    bool listed = false;
    int32_t id = random_class (random, classes ? classes : 1);
    for (size_t k = 0; k < o->class_option_count; k++)
      listed |= call->class_options[k].class_id == id;
    if (listed || chance (random, 30))
      continue;
    *c = (nms_class_options) { .size = sizeof *c,
      .class_id = id,
      .set = boxrandom_below (random, 16),
      .iou_threshold = iou_near (call, random),
      .score_threshold = score_near (call, random),
      .max_detections = boxrandom_below (random, MIN (n, 12) + 2),
      .group = random_class (random, classes ? classes : 1) };
    o->class_option_count++;
  }
  if (o->class_option_count)
    o->class_options = call->class_options;
}

/* Gives the best half of the boxes one place, or some places by class, so that they suppress each
 * other and do not fill a cap. */
static void
pile (BoxCall *call, BoxRandom *random)
{
  for (size_t i = 0; call->score && i < call->boxes.count; i++) {
    float box[4];
    if (chance (random, 50))
      continue;
    boxcall_corners (call, boxrandom_below (random, 3) % (uint32_t) call->boxes.count, box);
    boxcall_set_corners (call, i, box);
    call->score[i] += 10;
  }
}

void
boxcall_random (BoxCall *call, BoxRandom *random, int temper, size_t count)
{
  static const uint32_t class_counts[] = { 0, 1, 3, 8, 12, 80, 84, 1000 };
  uint32_t classes = class_counts[boxrandom_below (random, COUNT (class_counts))];

  *call = (BoxCall) { .boxes = { .size = sizeof call->boxes, .count = count } };
  make_corners (call, random, temper);
  make_scores (call, random, temper);
  make_others (call, random, classes);
  if (temper < BOXGEN_HOSTILE && chance (random, 10))
    pile (call, random);
  make_options (call, random, classes);
}

void
boxcall_random_method (BoxCall *call, BoxRandom *random, int temper)
{
  static const float sigmas[] = { 0, 0.5f, 1, 2, 0.01f, 1e9f }, least[] = { 0, 0.001f, 0.3f, 0.5f };
  nms_options *o = &call->options;
  const size_t n = call->boxes.count;
  const bool upright = temper != BOXGEN_UNIFORM && temper != BOXGEN_CROWD;

  o->method = boxrandom_below (random, NMS_METHOD_LIST (ONE));
  do
    o->metric = boxrandom_below (random, NMS_METRIC_LIST (ONE));
  while (nms_method_reason ((int) o->method, (int) o->metric));
  o->sigma = sigmas[boxrandom_below (random, COUNT (sigmas))];
  o->min_score = least[boxrandom_below (random, COUNT (least))];
  o->fused_score = boxrandom_below (random, 4);
  o->source_count = boxrandom_below (random, 5);
  for (size_t i = 0; i < COUNT (call->weights); i++)
    call->weights[i] = chance (random, 12) ? 0x1p32f : boxrandom_unit (random) + 0.125f;
  o->source_weights = chance (random, 50) ? call->weights : NULL;
  call->source = allocate (n, sizeof *call->source);
  for (size_t i = 0; i < n; i++)
    call->source[i] = (int32_t) boxrandom_below (random, (uint32_t) o->source_count)
        - chance (random, 1);
  if (chance (random, 75))
    call->boxes.source = (nms_column) { call->source, 0 };
  /* the reference computes overlaps of rotated boxes by another way, so scores that depend on them
   * may differ in the last bits */
  if (upright || chance (random, 50) || (o->method && o->method < NMS_METHOD_WEIGHTED))
    return;
  boxcall_add_angles (call);
  for (size_t i = 0; i < n; i++)
    call->angle[i] = chance (random, 66) ? boxrandom_unit (random) * 7 - 3.5f : 0;
  o->iou_threshold = boxrandom_unit (random) * 0.9f; /* so that it equals no metric */
  if (o->method == NMS_METHOD_HARD && chance (random, 50)) {
    /* tiny boxes, many intersections of which have extents below 2^-50 and count */
    o->iou_threshold *= 0.05f;
    for (size_t i = 0; i < 4 * n; i++)
      call->corners[i] *= 0x1p-52f;
  }
}

void
boxcall_clear (BoxCall *call)
{
  free (call->corners);
  free (call->score);
  free (call->class_id);
  free (call->exclude);
  free (call->parent);
  free (call->source);
  free (call->angle);
  *call = (BoxCall) { 0 };
}
