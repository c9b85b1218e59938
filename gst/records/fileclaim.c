/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileclaim: a list with an item for each claim, found by device and inode. */
#include "fileclaim.h"

#include <errno.h>
#include <sys/stat.h>

#include "fileerror.h"

typedef struct
{
  dev_t device;
  ino_t inode;
  gboolean writing;
  gchar *owner;
} FileClaim;

/* the files that are claimed in this process */
static GMutex lock;
static GSList *claims;

static GSList *
find (const struct stat *st, gboolean writing)
{
  GSList *item;

  for (item = claims; item; item = item->next) {
    const FileClaim *claim = item->data;

    if (claim->device == st->st_dev && claim->inode == st->st_ino && claim->writing == writing)
      break;
  }
  return item;
}

gboolean
file_claim_take (int fd, gboolean writing, const gchar *owner, GError **error)
{
  FileClaim *claim;
  struct stat st;
  GSList *item;

  if (fstat (fd, &st) < 0)
    return file_error_set (error, errno);
  g_mutex_lock (&lock);
  if ((item = find (&st, writing)) != NULL) {
    claim = item->data;
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s %s this file, so %s cannot",
        claim->owner, writing ? "writes to" : "reads", owner);
  } else {
    claim = g_new (FileClaim, 1);
    *claim = (FileClaim) {
      .device = st.st_dev,
      .inode = st.st_ino,
      .writing = writing,
      .owner = g_strdup (owner),
    };
    claims = g_slist_prepend (claims, claim);
  }
  g_mutex_unlock (&lock);
  return item == NULL;
}

void
file_claim_release (int fd, gboolean writing)
{
  struct stat st;
  GSList *item;

  g_mutex_lock (&lock);
  if (fstat (fd, &st) == 0 && (item = find (&st, writing)) != NULL) {
    FileClaim *claim = item->data;

    claims = g_slist_delete_link (claims, item);
    g_free (claim->owner);
    g_free (claim);
  }
  g_mutex_unlock (&lock);
}
