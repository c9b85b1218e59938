/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlafolder: a file has a head, the text of the program, and the executable as the plugin
 * serialized it. A plugin that reads an executable of another version or machine may crash, so the
 * head has a hash of the plugin's file (device, inode, size, time), of the machine's name and of
 * the compile options, and a checksum. The text is compared as a whole. A file is written under
 * another name and renamed, so that readers see whole files. An executable is code: a folder that
 * others may write to, or that another user owns, is not used.
 */
#define _GNU_SOURCE /* mkostemp */
#include "xlafolder.h"
#include "xlaerror.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAGIC 0x31616c78736d6e0aull /* also identifies the version of the format */

typedef struct head {
  uint64_t magic, identity, text_size, size, checksum;
} head;

static uint64_t
hash (uint64_t start, const void *data, size_t size)
{
  const unsigned char *bytes = data;

  for (size_t i = 0; i < size; i++)
    start = (start ^ bytes[i]) * 0x100000001b3ull;
  return start ^ start >> 32;
}

/* Returns what the plugin and the machine are, or 0 if the plugin's file is not known. */
static uint64_t
identity_of (const nms__xla_device *d)
{
  struct utsname machine;
  struct stat file;

  if (!strchr (d->path, '/') || stat (d->path, &file) || uname (&machine))
    return 0;
  const uint64_t numbers[] = { (uint64_t) file.st_dev, (uint64_t) file.st_ino,
    (uint64_t) file.st_size, (uint64_t) file.st_mtim.tv_sec, (uint64_t) file.st_mtim.tv_nsec };
  uint64_t h = hash (MAGIC, numbers, sizeof numbers);
  h = hash (h, machine.nodename, strlen (machine.nodename));
  h = hash (h, machine.machine, strlen (machine.machine));
  h = hash (h, d->name, strlen (d->name));
  return hash (h, NMS__XLA_COMPILE_OPTIONS, sizeof NMS__XLA_COMPILE_OPTIONS);
}

/* Writes the head and the path of the file for a text. Returns 0 if there is none. */
static int
find (const nms__xla_device *d, const char *text, size_t length, head *h, char path[4096])
{
  const char *folder = getenv ("NMS_XLA_PROGRAMS");
  struct stat s;

  if (!folder || !*folder || !d->api->serialize || !d->api->load)
    return 0;
  mkdir (folder, 0700);
  if (stat (folder, &s) || !S_ISDIR (s.st_mode) || s.st_uid != geteuid () || s.st_mode & 022)
    return 0;
  *h = (head) { MAGIC, identity_of (d), length, 0, 0 };
  const unsigned long long key = hash (h->identity, text, length);
  return h->identity && snprintf (path, 4096, "%s/%016llx.nmsxla", folder, key) < 4000;
}

/* Reads a file whose head must be `wanted` except for the size and the checksum. Returns its bytes,
 * for free (), or NULL. */
static char *
read_file (const char *path, head *wanted, const char *text)
{
  const int file = open (path, O_RDONLY | O_CLOEXEC);
  const size_t before = sizeof (head) + wanted->text_size;
  char *bytes = NULL;
  struct stat s;
  head h = { 0 };

  if (file < 0)
    return NULL;
  if (!fstat (file, &s) && (size_t) s.st_size > before)
    bytes = malloc ((size_t) s.st_size);
  if (bytes && pread (file, bytes, (size_t) s.st_size, 0) == s.st_size)
    memcpy (&h, bytes, sizeof h);
  close (file);
  if (h.magic == wanted->magic && h.identity == wanted->identity && h.text_size == wanted->text_size
      && h.size == (size_t) s.st_size - before && !memcmp (bytes + sizeof h, text, h.text_size)
      && hash (0, bytes + before, h.size) == h.checksum) {
    *wanted = h;
    return bytes;
  }
  free (bytes);
  return NULL;
}

pjrt_loaded_executable *
nms__xla_folder_load (const nms__xla_device *d, const char *text, size_t length)
{
  PJRT_ARGS (pjrt_load_args, args);
  pjrt_error *failure;
  char path[4096], *bytes;
  head h;

  if (!find (d, text, length, &h, path) || !(bytes = read_file (path, &h, text)))
    return NULL;
  args.client = d->client;
  args.bytes = bytes + sizeof h + length;
  args.size = h.size;
  failure = d->api->load (&args);
  free (bytes);
  if (failure) {
    nms__xla_error_take (d->api, failure, "", NULL, 0);
    return NULL;
  }
  return args.executable;
}

/* Writes a file under another name and renames it. */
static void
write_file (const char *path, const head *h, const char *text, const char *bytes)
{
  char other[4096 + 16];
  FILE *file;
  int handle, failed;

  snprintf (other, sizeof other, "%s.XXXXXX", path);
  handle = mkostemp (other, O_CLOEXEC);
  file = handle < 0 ? NULL : fdopen (handle, "wb");
  if (!file) {
    if (handle >= 0)
      close (handle);
    return;
  }
  failed = fwrite (h, sizeof *h, 1, file) != 1
      || fwrite (text, 1, h->text_size, file) != h->text_size
      || fwrite (bytes, 1, h->size, file) != h->size;
  failed |= fclose (file) != 0;
  if (failed || rename (other, path))
    unlink (other);
}

void
nms__xla_folder_save (const nms__xla_device *d, const char *text, size_t length,
    pjrt_loaded_executable *loaded)
{
  PJRT_ARGS (pjrt_get_executable_args, get);
  PJRT_ARGS (pjrt_serialize_args, args);
  PJRT_ARGS (pjrt_executable_args, gone);
  pjrt_error *failure;
  char path[4096];
  head h;

  if (!find (d, text, length, &h, path))
    return;
  get.loaded = loaded;
  failure = d->api->get_executable (&get);
  if (!failure) {
    args.executable = gone.executable = get.executable;
    failure = d->api->serialize (&args);
    if (!failure) {
      h.size = args.size;
      h.checksum = hash (0, args.bytes, args.size);
      write_file (path, &h, text, args.bytes);
      if (args.free_serialized)
        args.free_serialized (args.serialized);
    } else {
      nms__xla_error_take (d->api, failure, "", NULL, 0);
    }
    failure = d->api->executable_destroy (&gone);
  }
  if (failure)
    nms__xla_error_take (d->api, failure, "", NULL, 0);
}
