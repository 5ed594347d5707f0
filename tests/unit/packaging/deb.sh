#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh SOURCE BUILD EMULATOR: makes the Debian package twice from BUILD, with files of other times the
# second time, which gives the same bytes, and uses what it unpacks (stranger.sh).
set -euo pipefail
source=$(realpath "$1") build=$(realpath "$2")
if ! command -v dpkg-shlibdeps >/dev/null; then
  echo 'skipped: no dpkg-shlibdeps, which packaging/deb needs (Debian, Ubuntu: apt install dpkg-dev)'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(date +%s) # later than the build: dpkg-deb would keep the times of its files
export SOURCE_DATE_EPOCH
package=$("$source/packaging/deb" "$build" "$work/one")
touch "$build/installed/compile-cuda"
"$source/packaging/deb" "$build" "$work/two" >/dev/null
cmp "$package" "$work/two/$(basename "$package")"
dpkg-deb --field "$package" Depends | tee "$work/depends"
grep -qE 'libc6 \(>= ' "$work/depends"
grep -qE 'g\+\+ \(>= 4:1[0-9]\)' "$work/depends"
dpkg-deb -x "$package" "$work/root"
# The links of the package lead into it, wherever it lies.
[[ $(readlink -f "$work/root/usr/bin/kernelgrade") == "$work/root/usr/lib/kernelgrade/bin/kernelgrade" ]]
zcat "$work/root/usr/share/man/man1/kernelgrade.1.gz" | grep KERNELGRADE >/dev/null
bash "$source/tests/unit/packaging/stranger.sh" "$source" "$work/root/usr/bin:/usr/bin:/bin" "$3"
code=0; "$source/packaging/deb" "$work" "$work/three" 2>"$work/said" || code=$?
if ((code != 2)) || ! grep -q 'BUILD holds CMakeCache.txt' "$work/said"; then
  cat "$work/said"
  echo "FAILED: a folder without a build: exit code $code"
  exit 1
fi
