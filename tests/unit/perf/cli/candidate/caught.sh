#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# caught.sh PROGRAM LIBRARY CHEAT WORDS: a candidate that cheats fails, with a message that has these words.
set -uo pipefail
cheat=$3 words=$4
output=$(CHEAT=$cheat "$1" softmax "$2" --dtype f32 2>&1)
code=$?
((code == 1)) || { echo "exit code $code for the cheat '$cheat', not 1"; tail -n 30 <<<"$output"; exit 1; }
grep -qF -- "$words" <<<"$output" && exit 0
echo "the cheat '$cheat' failed, but not with '$words':"
grep -vE '^\[ +(OK|RUN) ' <<<"$output" | tail -n 40
exit 1
