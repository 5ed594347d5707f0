# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by grade: does not rerun deterministic tests while their inputs are unchanged.

# inputs TESTS FILE_OR_FOLDER...: a digest of everything that determines the outcome of the tests in CTest's list TESTS (JSON): their
# commands, their programs with loaded libraries, the given files, Kernelgrade's environment variables, and the commit. Fails if a program
# is missing. A missing given file is a valid input.
inputs() {
  local tests=$1 named programs=() path
  shift
  # Exclude the paths in the list that the tests write.
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
    # Results name their commit, and a report must not mix two commits.
    git describe --always --abbrev=40 --dirty 2>/dev/null
  } | sha256sum
}
