# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by grade: tests whose outcome depends on nothing but their inputs are not run again while these are the same.

# inputs TESTS FILE_OR_FOLDER...: a digest of all that decides the outcome of the tests that CTest listed in the file TESTS (JSON): their
# commands, the programs that they run with the libraries these load, the given files, Kernelgrade's variables in the
# environment, and the commit. Fails where a program is missing. A given file that is not there is as good an input as one that is.
inputs() {
  local tests=$1 named programs=() path
  shift
  # Of the paths in the list, those that tests write are no inputs.
  mapfile -t named < <(grep -oE '"/[^"]+"' "$tests" | tr -d '"' | grep -v '/results/' | sort -u)
  for path in "${named[@]}"; do
    [[ -e $path ]] || return 1
    [[ ! -f $path ]] || programs+=("$path")
  done
  ((${#programs[@]})) || return 1
  {
    cat "$tests"
    sha256sum "${programs[@]}"
    ldd "${programs[@]}" 2>/dev/null | awk '/=> \// { print $3 }' | sort -u | xargs -r stat -c '%n %s %Y'
    find "$@" -type f -print0 2>/dev/null | sort -z | xargs -0 -r sha256sum
    env | grep '^KERNELGRADE_' | sort
    # Results name the commit they are of, and those of two are not mixed.
    git describe --always --abbrev=40 --dirty 2>/dev/null
  } | sha256sum
}
