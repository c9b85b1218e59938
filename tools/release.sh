#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# release: the checklist of a release.
usage ()
{
  cat <<END
usage: tools/release.sh [--tag]

Checks that the commit that is checked out can be released as the version in meson.build, and
prints each step that is missing. With --tag, and if none is missing: makes the tag vVERSION and
gst-nms-VERSION.tar.gz, whose bytes depend on the commit alone, in the build folder.

The steps, in order:

  1. meson.build has a version above that of the last tag.
  2. NEWS.md begins with "# VERSION (YYYY-MM-DD)", and debian/changelog with an entry for the same
     version and day, in a distribution other than UNRELEASED.
  3. pyproject.toml has the public address of the project in place of ADDRESS.
  4. tests/bench/figures.sh has measured every figure of the documents, on a commit with the same
     gst/ and nmscore/.
  5. All is committed on main, and pushed to origin.
  6. Each stage of tests/run.sh --all and tests/run.sh --release has passed on this commit.

NMS_BUILD_DIR names the build folder (default: build/ in the checkout).
END
}

set -euo pipefail
cd "$(dirname "$0")/.."
build=${NMS_BUILD_DIR:-build}
refusals=0

refuse ()
{
  printf 'missing: %s\n' "$*" >&2
  refusals=$((refusals + 1))
}

# Succeeds if version $1 is above $2.
is_above () { [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1" ]; }

check_version ()
{
  local last
  last=$(git tag --list 'v[0-9]*' | sed 's/^v//' | sort -V | tail -n 1)
  [ -z "$last" ] || is_above "$version" "$last" ||
    refuse "meson.build has version $version, which is not above the last tag, v$last"
}

check_news ()
{
  local heading pattern="^# ${version//./\\.} \(([0-9]{4}-[0-9]{2}-[0-9]{2})\)$"
  heading=$(head -n 1 NEWS.md)
  if [[ $heading =~ $pattern ]]; then
    check_changelog "${BASH_REMATCH[1]}"
  else
    refuse "NEWS.md begins with '$heading' instead of '# $version (YYYY-MM-DD)'"
  fi
}

check_changelog ()
{
  local day=$1 first date
  first=$(head -n 1 debian/changelog)
  [[ $first =~ ^gst-nms\ \(${version//./\\.}(-[0-9.]+)?\)\ ([^;]+)\; ]] || {
    refuse "debian/changelog begins with '$first' instead of 'gst-nms ($version)'"
    return
  }
  [ "${BASH_REMATCH[2]}" != UNRELEASED ] ||
    refuse "debian/changelog says UNRELEASED instead of a distribution"
  date=$(sed -nE '/^ -- /{s/^ -- .*>  //p;q}' debian/changelog)
  [ "$(date -u -d "$date" +%F)" = "$day" ] ||
    refuse "debian/changelog has the date '$date', and NEWS.md $day"
}

check_address ()
{
  ! grep -q '://ADDRESS/' pyproject.toml ||
    refuse "pyproject.toml has ADDRESS instead of the project's public address"
}

check_figures ()
{
  local name commit missing=
  for name in $(tests/bench/figures.sh --list | cut -d ' ' -f 1); do
    commit=$(sed -nE '1s/^commit ([^,]+),.*/\1/p' "output-bench/figures/$name.txt" 2>/dev/null || true)
    git diff --quiet "${commit:--}" HEAD -- gst nmscore 2>/dev/null || missing="$missing $name"
  done
  [ -z "$missing" ] ||
    refuse "no figures of these sources in output-bench: tests/bench/figures.sh$missing"
}

check_tree ()
{
  [ "$(git branch --show-current)" = main ] || refuse "main is not checked out"
  [ -z "$(git status --porcelain)" ] ||
    refuse "these files are not committed: $(git status --porcelain | cut -c 4- | tr '\n' ' ')"
  [ "$(git rev-parse --verify --quiet origin/main)" = "$head" ] ||
    refuse "origin/main is another commit: git push origin main, or git pull"
}

# Each stage that passes leaves its commit.
check_tests ()
{
  local level stage commit
  local -A missing
  while read -r level stage; do
    commit=
    [ ! -f "$build/passed/$stage" ] || read -r commit <"$build/passed/$stage"
    [ "$commit" = "$head" ] || missing[$level]+=" $stage"
  done < <(tests/run.sh --list)
  for level in all release; do
    [ -z "${missing[$level]-}" ] ||
      refuse "tests/run.sh --$level: not passed on ${head:0:12}: tests/run.sh${missing[$level]}"
  done
}

make_tag ()
{
  local archive="$build/gst-nms-$version.tar.gz"
  git tag -a "v$version" -m "gst-nms $version"
  git archive --prefix="gst-nms-$version/" "v$version^{commit}" | gzip -9n >"$archive"
  sha256sum "$archive"
  printf 'Tagged. Publish it with: git push origin v%s\n' "$version"
}

case ${1-} in
  "" | --tag) ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
version=$(sed -nE "s/^  version: '([0-9.]+)',$/\1/p" meson.build)
head=$(git rev-parse HEAD)
check_version
check_news
check_address
check_figures
check_tree
check_tests
if [ "$refusals" != 0 ]; then
  printf '%s steps are missing: version %s is not released\n' "$refusals" "$version" >&2
  exit 1
fi
printf 'version %s can be released\n' "$version"
[ $# = 0 ] || make_tag
