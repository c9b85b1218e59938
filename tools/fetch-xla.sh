#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fetch-xla: puts a PJRT plugin of XLA into FOLDER and prints the path of its
# library: by default that for the CPU, PyPI's package xla-cpu-pjrt, which names
# no licence of its own; so it is fetched for tests and not shipped. `tpu`: that
# for TPUs, libtpu, under terms of its own, for the same use; it compiles without
# a TPU, but must be loaded by a child process only. `cuda`: that for NVIDIA's
# GPUs, jax-cuda13-pjrt. Ends with 77 if the package cannot be downloaded.
#
#     export NMS_XLA_PLUGIN=$(tools/fetch-xla.sh FOLDER [cpu|tpu|cuda])
set -euo pipefail

die () { printf 'fetch-xla: %s\n' "$*" >&2; exit 1; }

folder=${1:?usage: fetch-xla.sh FOLDER [cpu|tpu|cuda]} which=()
case ${2-cpu} in
  cpu)
    package=xla-cpu-pjrt==0.0.1
    sum=55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc
    member=xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so
    ;;
  tpu)
    package=libtpu==0.0.51
    sum=ba67ddbfdbac61c8da1fafc26cd51b93e9fe4d298016e2882eb986b1718cba34
    member=libtpu/libtpu.so
    # (there is a file for each version of Python, with the same library)
    which=(--only-binary :all: --implementation cp --python-version 3.11 --abi cp311
      --platform manylinux_2_31_x86_64)
    ;;
  cuda)
    package=jax-cuda13-pjrt==0.12.0.1
    sum=5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90
    member=jax_plugins/xla_cuda13/xla_cuda_plugin.so
    ;;
  *) die "no plugin for '$2'" ;;
esac

library=$folder/${member##*/}
mkdir -p "$folder"

# (the library is complete, and of this version, once the note beside it says so)
if [ "$(cat "$library.sum" 2>/dev/null)" != "$sum" ]; then
  [ "$(uname -m)" = x86_64 ] || die "$package is for x86_64 alone"
  work=$(mktemp -d "$folder/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  python3 -m pip --disable-pip-version-check download --quiet --no-deps --no-cache-dir \
    --retries 2 --dest "$work" "${which[@]}" "$package" >&2 ||
    { printf 'fetch-xla: cannot download %s from PyPI\n' "$package" >&2; exit 77; }
  wheel=$(find "$work" -name '*.whl')
  [ -f "$wheel" ] || die "$package came as something else than a wheel"
  printf '%s  %s\n' "$sum" "$wheel" | sha256sum --check --status ||
    die "${wheel##*/} is not the file that was expected: its SHA-256 is another"
  python3 -m zipfile -e "$wheel" "$work/unpacked"
  mv "$work/unpacked/$member" "$library"
  printf '%s\n' "$sum" >"$library.sum"
fi
printf '%s\n' "$library"
