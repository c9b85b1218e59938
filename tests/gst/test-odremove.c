/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odremove: random mtds with random relations, of which nmsfilter removes the ODs below
 * a score. The test finds the mtds that must remain by the rule alone, pair by pair;
 * they must keep their data and relations, bit by bit.
 */
#include "gstrunner.h"
#include "odboxes.h"

#define MOST 40

typedef enum
{
  DETECTION,
  CLASS,
  FOREIGN,
  KINDS
} Kind;

/* The mtds that were put on the buffer. */
typedef struct
{
  guint count;
  Kind kind[MOST];
  gboolean low[MOST]; /* an OD below the score */
  guint8 relation[MOST][MOST];
  gboolean removed[MOST];
} Model;

static void
add_mtd (GstBuffer *buffer, const Model *model, guint i)
{
  GstAnalyticsClsMtd cls;

  if (model->kind[i] == DETECTION)
    add_od (buffer, "dog", (Rect) { (gint) i, 20 * (gint) i, 5, 5 }, model->low[i] ? 0.25f : 0.75f);
  else if (model->kind[i] == CLASS)
    gst_analytics_relation_meta_add_one_cls_mtd (relations_of (buffer), (gfloat) i / MOST,
        g_quark_from_static_string ("puppy"), &cls);
  else
    add_foreign (buffer, (gint) i);
}

/* Finds the number that add_mtd gave a mtd, and its kind. Returns FALSE for a
 * placeholder. */
static gboolean
identify (GstAnalyticsMtd *mtd, Kind *kind, guint *number)
{
  const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (mtd);

  *kind = FOREIGN;
  *number = (guint) foreign_number (mtd);
  if (type == gst_analytics_od_mtd_get_mtd_type ()) {
    *kind = DETECTION;
    *number = (guint) x_of_od (mtd);
  } else if (type == gst_analytics_cls_mtd_get_mtd_type ()) {
    *kind = CLASS;
    *number = (guint) (gst_analytics_cls_mtd_get_level ((GstAnalyticsClsMtd *) mtd, 0) * MOST
        + 0.5f);
  } else if (foreign_number (mtd) < 0) {
    g_assert_cmpstr (gst_analytics_mtd_type_get_name (type), ==, "nms-removed");
    return FALSE;
  }
  return TRUE;
}

static Model
random_model (GRand *rand)
{
  static const guint8 bits[] = { GST_ANALYTICS_REL_TYPE_IS_PART_OF, GST_ANALYTICS_REL_TYPE_CONTAIN,
    GST_ANALYTICS_REL_TYPE_RELATE_TO };
  const guint kinds = (guint) g_rand_int_range (rand, CLASS, KINDS + 1);
  const gdouble low = g_rand_double (rand), density = g_rand_double_range (rand, 0, 0.15);
  const gboolean led_to = g_rand_boolean (rand);
  Model model = { .count = (guint) g_rand_int_range (rand, 1, MOST + 1) };
  guint i;

  for (i = 0; i < model.count; i++) {
    model.kind[i] = g_rand_boolean (rand)
        ? DETECTION
        : (Kind) g_rand_int_range (rand, DETECTION, (gint32) kinds);
    model.low[i] = model.kind[i] == DETECTION && g_rand_double (rand) < low;
  }
  for (i = 0; i < model.count; i++)
    for (guint k = 0; k < model.count; k++) {
      const gboolean ods = model.kind[i] == DETECTION && model.kind[k] == DETECTION;

      if (g_rand_double (rand) >= density)
        continue;
      /* parts are removed with their parent, which test-odmeta checks */
      for (guint b = ods ? 2 : 0; b < G_N_ELEMENTS (bits); b++)
        if (g_rand_boolean (rand))
          model.relation[i][k] |= bits[b];
    }
  /* as detectors do: an OD has relations to each of the others */
  for (guint k = 0; led_to && k < model.count; k++) {
    i = (guint) g_rand_int_range (rand, 0, (gint32) model.count);
    for (guint b = 0; b < model.count && model.kind[i] != DETECTION; b++)
      i = (i + 1) % model.count;
    if (model.kind[i] == DETECTION && model.kind[k] != DETECTION)
      model.relation[i][k] |= GST_ANALYTICS_REL_TYPE_RELATE_TO;
  }
  return model;
}

/* Follows relations from i over mtds without a direct relation to an OD. Finds whether they lead to
 * ODs that are removed, and to ODs that are kept. */
static void
follow (const Model *model, guint i, gboolean *seen, gboolean *to_removed, gboolean *to_kept)
{
  gboolean direct = FALSE, stays = FALSE;

  seen[i] = TRUE;
  for (guint k = 0; k < model->count; k++)
    if (model->kind[k] == DETECTION && (model->relation[i][k] || model->relation[k][i])) {
      direct = TRUE;
      stays |= !model->low[k];
    }
  if (direct)
    *(stays ? to_kept : to_removed) = TRUE;
  for (guint k = 0; k < model->count && !direct; k++)
    if (!seen[k] && model->kind[k] != DETECTION && (model->relation[i][k] || model->relation[k][i]))
      follow (model, k, seen, to_removed, to_kept);
}

static void
find_removed (Model *model)
{
  for (guint i = 0; i < model->count; i++) {
    gboolean seen[MOST] = { FALSE }, to_removed = FALSE, to_kept = FALSE;

    follow (model, i, seen, &to_removed, &to_kept);
    model->removed[i] = model->kind[i] == DETECTION ? model->low[i] : to_removed && !to_kept;
  }
}

static GstBuffer *
make_buffer (const Model *model)
{
  GstBuffer *buffer = frame_new (0);

  for (guint i = 0; i < model->count; i++)
    add_mtd (buffer, model, i);
  for (guint i = 0; i < model->count; i++)
    for (guint k = 0; k < model->count; k++)
      if (model->relation[i][k])
        relate (buffer, i, k, model->relation[i][k]);
  return buffer;
}

static void
check (GstBuffer *buffer, const Model *model, gboolean whole)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  guint number[MOST], left = 0, next = 0, id, k, count = mtds_on (buffer);
  gboolean ids_kept = whole;

  for (k = 0; k < model->count; k++)
    ids_kept |= !model->removed[k] && model->kind[k] == FOREIGN;
  for (id = 0; id < count; id++) {
    GstAnalyticsMtd mtd = { id, meta };
    Kind kind;

    number[id] = G_MAXUINT;
    if (!identify (&mtd, &kind, &number[id]))
      continue;
    while (next < model->count && model->removed[next] && !whole)
      next++;
    g_assert_cmpuint (number[id], ==, next);
    g_assert_cmpint (kind, ==, model->kind[next]);
    next++;
    left++;
    if (ids_kept)
      g_assert_cmpuint (id, ==, number[id]);
  }
  while (next < model->count && model->removed[next] && !whole)
    next++;
  g_assert_cmpuint (next, ==, model->count);
  if (!ids_kept)
    g_assert_cmpuint (left, ==, count);
  for (id = 0; id < count; id++)
    for (k = 0; k < count; k++)
      g_assert_cmpuint (gst_analytics_relation_meta_get_relation (meta, id, k), ==,
          number[id] == G_MAXUINT || number[k] == G_MAXUINT
              ? 0
              : model->relation[number[id]][number[k]]);
}

static void
test_random (void)
{
  const gchar *wish = g_getenv ("NMS_TEST_ROUNDS");
  const guint rounds = wish ? (guint) g_ascii_strtoull (wish, NULL, 10) : 3000;
  g_autoptr (GstHarness) h = harness_new ("nmsfilter score-threshold=0.5");
  g_autoptr (GstHarness) all = harness_new ("nmsfilter score-threshold=2");
  guint dropped = 0, count;

  for (guint round = 0; round < rounds; round++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (round);
    Model model = random_model (rand);
    const gboolean shared = g_rand_boolean (rand);
    GstBuffer *buffer = make_buffer (&model), *other, *out;

    g_test_message ("round %u", round);
    other = shared ? gst_buffer_ref (buffer) : NULL;
    find_removed (&model);
    out = through (h, buffer);
    check (out, &model, FALSE);
    if (other)
      check (other, &model, other != out);
    for (guint i = 0; i < model.count; i++)
      dropped += model.removed[i];
    /* placeholders are no ODs, and a second filter adds no more of them */
    count = mtds_on (out);
    for (guint i = 0; i < model.count; i++)
      model.low[i] = model.kind[i] == DETECTION;
    find_removed (&model);
    out = through (all, out);
    check (out, &model, FALSE);
    g_assert_cmpuint (mtds_on (out), <=, count);
    gst_buffer_unref (out);
    gst_clear_buffer (&other);
    assert_none_alive ();
  }
  g_assert_cmpuint (dropped, >, rounds); /* more than one mtd a round */
}

static const TestCase cases[] = { CASE (test_random), { NULL } };

GST_TEST_PROGRAM (cases);
