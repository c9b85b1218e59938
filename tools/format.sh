#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# format: writes the C and C++ of the project in one layout, that of .clang-format.
usage ()
{
  cat <<END
usage: tools/format.sh [--check]

Formats each source with clang-format 14 of Debian 12, because each version has another layout.
With --check: changes nothing, prints the places that differ, and fails if there are any. Exits 77
where clang-format 14 is not installed.
END
}

set -euo pipefail
cd "$(dirname "$0")/.."
options=(-i)
case ${1-} in
  "") ;;
  --check) options=(--dry-run --Werror) ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

command -v clang-format-14 >/dev/null || { printf 'clang-format-14 is not installed\n'; exit 77; }

# Prints the sources, each followed by NUL.
sources ()
{
  # lanes.h is a table of one-line functions, side by side for each instruction set
  find accel gst nmscore pipelines python tests tools \( -name '*.[ch]' -o -name '*.cc' \) \
    ! -path nmscore/simd/lanes.h -print0
}

if sources | xargs -0 grep -n 'clang-format off'; then
  printf 'clang-format may not be switched off\n'
  exit 1
fi
sources | xargs -0 -n 80 -P "$(nproc)" clang-format-14 "${options[@]}"
