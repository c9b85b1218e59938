# SPDX-License-Identifier: LGPL-2.1-or-later
# system: makes another Debian in a folder with debootstrap, runs commands in it, and
# copies the checkout. To be sourced after pipelines/common.sh:
#
#     system_copy_checkout FOLDER
#     system_can_be_made || die "$NMS_REASON"
#     system_make FOLDER bookworm [i386]    # once; writes FOLDER.log
#     system_inside FOLDER PATH COMMAND...  # runs COMMAND in PATH of the folder
#     system_remove FOLDER                  # in the background

# Succeeds if such a folder can be made here; else sets NMS_REASON.
system_can_be_made ()
{
  if [ "$(id -u)" != 0 ]; then
    NMS_REASON="only root can make a bare system"
  elif ! unshare --mount --pid --fork true 2>/dev/null; then
    NMS_REASON="mounting is not allowed here"
  elif ! command -v debootstrap >/dev/null; then
    NMS_REASON="debootstrap is not installed"
  else
    return 0
  fi
  return 1
}

# Copies the checkout without build results into FOLDER.
system_copy_checkout ()
{
  (
    cd "$NMS_ROOT"
    if git rev-parse --show-toplevel >/dev/null 2>&1; then
      git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=-
    else
      tar -c --exclude='./build*' --exclude='./output*' .
    fi
  ) | tar -x -C "$1"
}

# Makes the folder again if an earlier run did not complete it. Without an architecture: that of
# this Debian.
system_make ()
{
  local folder=$1 release=$2 architecture=${3-}
  [ ! -e "$folder/complete" ] || return 0
  rm -rf --one-file-system "$folder"
  mkdir -p "$folder/etc/dpkg/dpkg.cfg.d" || return 1
  # does not wait for the disk, because a lost folder is made again
  echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe-io"
  debootstrap ${architecture:+--arch="$architecture"} --variant=minbase "$release" "$folder" \
    >"$folder.log" 2>&1 ||
    { tail -n 20 "$folder.log" >&2; return 1; }
  touch "$folder/complete"
}

# Removes the folder in the background, which takes minutes on a disk whose file system is mounted
# with `discard`.
system_remove ()
{
  rm -rf --one-file-system "$1" >/dev/null 2>&1 </dev/null &
}

# Runs the command in namespaces of its own, so that its mounts end with it: /proc, and
# each folder of NMS_SHARED at the same path. Passes only NMS_PASS (NAME=VALUE...) of the
# environment.
system_inside ()
{
  local folder=$1 path=$2
  shift 2
  # shellcheck disable=SC2016,SC2086
  unshare --mount --pid --fork bash -euc '
    root=$1 shared=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/dev/shm"
    while IFS= read -r folder; do
      [ -z "$folder" ] || { mkdir -p "$root$folder"; mount --bind "$folder" "$root$folder"; }
    done <<<"$shared"
    exec chroot "$root" "$@"' bash "$folder" "${NMS_SHARED-}" /usr/bin/env -i \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} ${NMS_PASS-} \
    bash -c 'cd "$1" && shift && exec "$@"' bash "$path" "$@"
}
