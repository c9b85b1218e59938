/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "foreignmtd.h"

#include "odboxes.h"

typedef struct
{
  gchar *text;
  gint number;
} Foreign;

static gint foreign_alive = 0;

static gboolean
foreign_transform (GstBuffer *target, GstAnalyticsMtd *mtd, GstBuffer *buffer, GQuark type,
    gpointer data)
{
  Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);

  foreign->text = g_strdup (foreign->text);
  foreign_alive++;
  return TRUE;
}

static void
foreign_clear (GstBuffer *buffer, GstAnalyticsMtd *mtd)
{
  Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);

  g_free (foreign->text);
  foreign_alive--;
}

static const GstAnalyticsMtdImpl foreign_impl = { .name = "foreign",
  .mtd_meta_transform = foreign_transform,
  .mtd_meta_clear = foreign_clear };

#define FOREIGN_TYPE ((GstAnalyticsMtdType) &foreign_impl)

guint
foreign_mtd_add (GstBuffer *buffer, gint number)
{
  GstAnalyticsMtd mtd;
  Foreign *foreign = gst_analytics_relation_meta_add_mtd (relations_of (buffer), &foreign_impl,
      sizeof *foreign, &mtd);

  foreign->text = g_strdup_printf ("foreign %d", number);
  foreign->number = number;
  foreign_alive++;
  return mtd.id;
}

gint
foreign_mtd_number (const GstAnalyticsMtd *mtd)
{
  const Foreign *foreign = gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);
  g_autofree gchar *must = NULL;

  if (gst_analytics_mtd_get_mtd_type (mtd) != FOREIGN_TYPE)
    return -1;
  must = g_strdup_printf ("foreign %d", foreign->number);
  g_assert_cmpstr (foreign->text, ==, must);
  return foreign->number;
}

gchar *
foreign_mtds_on (GstBuffer *buffer)
{
  GString *text = g_string_new (NULL);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  while (gst_analytics_relation_meta_iterate (relations_of (buffer), &state, FOREIGN_TYPE, &mtd))
    g_string_append_printf (text, "%s%d", text->len ? " " : "", foreign_mtd_number (&mtd));
  return g_string_free (text, FALSE);
}

gint
foreign_mtds_alive (void)
{
  return foreign_alive;
}
