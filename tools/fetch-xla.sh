#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# fetch-xla: downloads a PJRT plugin of XLA from PyPI into FOLDER and prints the path of
# its library. This project does not distribute any of them. Ends with 77 if the package
# cannot be downloaded.
#
#     export NMS_XLA_PLUGIN=$(tools/fetch-xla.sh FOLDER [cpu|tpu|cuda])
#
#     cpu   xla-cpu-pjrt, the default. Its package states no licence.
#     tpu   libtpu, under its own terms. It compiles without a TPU. Load it only in a
#           child process, because it may abort the process.
#     cuda  jax-cuda13-pjrt, for NVIDIA's GPUs.
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
    # the files for different versions of Python contain the same library
    which=(--only-binary :all: --implementation cp --python-version 3.11 --abi cp311
      --platform manylinux_2_31_x86_64)
    ;;
  cuda)
    package=jax-cuda13-pjrt==0.12.0.1
    sum=5899bb6177eda86ea532afb9a26794f2bdd04966f6a01f9028266b16c2b6cf90
    member=jax_plugins/xla_cuda13/xla_cuda_plugin.so
    ;;
  *) die "unknown plugin '$2', must be cpu, tpu or cuda" ;;
esac

library=$folder/${member##*/}
mkdir -p "$folder"

# $library.sum is written last: with this checksum the library is complete
if [ "$(cat "$library.sum" 2>/dev/null)" != "$sum" ]; then
  [ "$(uname -m)" = x86_64 ] || die "$package runs only on x86_64"
  work=$(mktemp -d "$folder/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  python3 -m pip --disable-pip-version-check download --quiet --no-deps --no-cache-dir \
    --retries 2 --dest "$work" "${which[@]}" "$package" >&2 ||
    { printf 'fetch-xla: cannot download %s from PyPI\n' "$package" >&2; exit 77; }
  wheel=$(find "$work" -name '*.whl')
  [ -f "$wheel" ] || die "$package is not a wheel"
  printf '%s  %s\n' "$sum" "$wheel" | sha256sum --check --status ||
    die "the SHA-256 of ${wheel##*/} is not the expected one"
  python3 -m zipfile -e "$wheel" "$work/unpacked"
  mv "$work/unpacked/$member" "$library"
  printf '%s\n' "$sum" >"$library.sum"
fi
printf '%s\n' "$library"
