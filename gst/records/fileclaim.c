/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fileclaim: a list with an item for each file being recorded, found by device and inode. */
#include "fileclaim.h"

#include <errno.h>
#include <sys/stat.h>

#include "fileerror.h"

typedef struct
{
  dev_t device;
  ino_t inode;
  gchar *owner;
} FileClaim;

/* the files that are claimed in this process */
static GMutex lock;
static GSList *claims;

static GSList *
find (const struct stat *st)
{
  GSList *item;

  for (item = claims; item; item = item->next) {
    const FileClaim *claim = item->data;

    if (claim->device == st->st_dev && claim->inode == st->st_ino)
      break;
  }
  return item;
}

gboolean
file_claim_take (int fd, const gchar * owner, GError ** error)
{
  FileClaim *claim;
  struct stat st;
  GSList *item;

  if (fstat (fd, &st) < 0)
    return file_error_set (error, errno);
  g_mutex_lock (&lock);
  if ((item = find (&st)) != NULL) {
    claim = item->data;
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
        "%s writes to this file, so %s cannot", claim->owner, owner);
  } else {
    claim = g_new (FileClaim, 1);
    *claim = (FileClaim) {.device = st.st_dev,.inode = st.st_ino,.owner = g_strdup (owner) };
    claims = g_slist_prepend (claims, claim);
  }
  g_mutex_unlock (&lock);
  return item == NULL;
}

void
file_claim_release (int fd)
{
  struct stat st;
  GSList *item;

  g_mutex_lock (&lock);
  if (fstat (fd, &st) == 0 && (item = find (&st)) != NULL) {
    FileClaim *claim = item->data;

    claims = g_slist_delete_link (claims, item);
    g_free (claim->owner);
    g_free (claim);
  }
  g_mutex_unlock (&lock);
}
