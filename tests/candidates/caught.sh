#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# caught.sh PROGRAM CHEAT WORDS: a candidate that cheats fails, with a message that has these words.
set -uo pipefail
output=$(CHEAT=$2 "$1" --dtype f32 2>&1)
code=$?
((code == 1)) || { echo "exit code $code for the cheat '$2', not 1"; tail -n 30 <<<"$output"; exit 1; }
grep -qF -- "$3" <<<"$output" && exit 0
echo "the cheat '$2' failed, but not with '$3':"
grep -vE '^\[ +(OK|RUN) ' <<<"$output" | tail -n 40
exit 1
