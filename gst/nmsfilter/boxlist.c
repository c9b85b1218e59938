/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boxlist.h"

#include "meta/parentlinks.h"

struct _BoxList
{
  gboolean tag;
  BoxSuppressRules *rules;
  BoxSelectRules *select;
  nms_context *context;
  BoxSuppress *suppress;
};

BoxList *
box_list_new (BoxListSettings *settings)
{
  BoxList *self = g_new0 (BoxList, 1);

  self->tag = settings->action == GST_NMS_ACTION_TAG;
  self->rules = filter_settings_get_rules (&settings->filter);
  self->select = select_settings_get_rules (&settings->select);
  self->context = nms_context_new ();
  g_assert (self->context != NULL); /* ends the program when out of memory, as GLib does */
  self->suppress = box_suppress_new (self->context);
  return self;
}

void
box_list_free (BoxList *self)
{
  if (self == NULL)
    return;
  box_suppress_rules_unref (self->rules);
  box_select_rules_unref (self->select);
  box_suppress_free (self->suppress);
  nms_context_free (&self->context);
  g_free (self);
}

/* Sets the parent of each box, as reading metadata does. */
static void
link_parents (GArray *boxes)
{
  gboolean parents = FALSE;

  for (guint i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    box->parent = -1;
    parents |= box->parent_id != 0;
  }
  if (parents) {
    parent_links_find (boxes);
    parent_links_break_rings (boxes);
  }
}

/* Removes the dropped boxes. A part whose parent is dropped has no parent afterwards, as box_remove
 * leaves it. */
static void
remove_dropped (GArray *boxes)
{
  Box *box = (Box *) boxes->data;
  guint kept = 0;

  for (guint i = 0; i < boxes->len; i++)
    if (box[i].parent >= 0 && box_state_is_drop (box[box[i].parent].state))
      box[i].parent_id = 0;
  for (guint i = 0; i < boxes->len; i++) {
    if (box_state_is_drop (box[i].state))
      continue;
    box[kept] = box[i];
    box[kept++].state = BOX_STATE_NONE;
  }
  g_array_set_size (boxes, kept);
}

gint
box_list_filter (BoxList *self, GArray *boxes, gint width, gint height, GError **error)
{
  BoxSelectFrame select;
  BoxCounts counts;

  link_parents (boxes);
  box_select_begin (&select, self->select, width, height);
  if (box_suppress_run (self->suppress, boxes, self->rules, self->select->active ? &select : NULL,
          self->tag, &counts)
      < 0) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
        nms_context_error (self->context));
    return -1;
  }
  for (guint i = 0; i < boxes->len && counts.rewritten > 0; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    if (box->flags & BOX_MOVED)
      box_place (box, width, height);
  }
  if (self->tag)
    return (gint) (boxes->len - counts.dropped);
  remove_dropped (boxes);
  return (gint) boxes->len;
}
