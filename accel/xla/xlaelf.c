/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaelf: compares the segments of an ELF file with the file's size. */
#include "xlaelf.h"
#include "xlaerror.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ElfW (Ehdr) elf_header;
typedef ElfW (Phdr) program_header;

#define NATIVE_CLASS (sizeof (void *) == 8 ? ELFCLASS64 : ELFCLASS32)

static int
truncated (const char *path, uint64_t needed, uint64_t size, char *error, size_t error_size)
{
  return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
      "%s is truncated: it has %llu bytes, its headers name %llu", path, (unsigned long long) size,
      (unsigned long long) needed);
}

static int
check_segments (int file, const char *path, uint64_t size, char *error, size_t error_size)
{
  elf_header elf;
  program_header segment;

  if (pread (file, &elf, sizeof elf, 0) != (ssize_t) sizeof elf
      || memcmp (elf.e_ident, ELFMAG, SELFMAG) || elf.e_ident[EI_CLASS] != NATIVE_CLASS
      || elf.e_phentsize != sizeof segment)
    return NMS_OK;
  for (unsigned i = 0; i < elf.e_phnum; i++) {
    const uint64_t at = (uint64_t) elf.e_phoff + i * sizeof segment;
    if (at > size || sizeof segment > size - at
        || pread (file, &segment, sizeof segment, (off_t) at) != (ssize_t) sizeof segment)
      return truncated (path, at + sizeof segment, size, error, error_size);
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      return truncated (path, (uint64_t) segment.p_offset + segment.p_filesz, size, error,
          error_size);
  }
  return NMS_OK;
}

int
nms__xla_elf_check (const char *path, char *error, size_t error_size)
{
  /* O_NONBLOCK, because opening a FIFO would wait for a writer */
  const int file = strchr (path, '/') ? open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  struct stat st;
  int code = NMS_OK;

  if (file < 0)
    return NMS_OK;
  if (!fstat (file, &st))
    code = S_ISREG (st.st_mode)
        ? check_segments (file, path, (uint64_t) st.st_size, error, error_size)
        : nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
            "cannot load the plugin: %s is not a regular file", path);
  close (file);
  return code;
}
