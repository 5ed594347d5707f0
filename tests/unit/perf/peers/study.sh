#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# study.sh KERNELGRADE SOURCE: frameworks in a study of an operation are experiments like those of libraries: timed, judged, and never among ours.
# Needs a Python and none of the frameworks.
set -euo pipefail
# shellcheck source=tests/unit/perf/peers/runs.sh
source "$(dirname "$0")/runs.sh"

study=(study vector_add --max-size 16 --processes 1 --source-id test --out "$folder/studies")
runs 1 "${study[@]}" --only libraries --peer fake_right,fake_wrong
has '^16 .*fake_right .* ok' out
has '^16 .*fake_wrong .* INVALID' out
has 'fake_wrong.*INVALID: out: 1 of 16 elements are wrong' out
! grep -q '^16 .*naive' "$folder/out" || fail 'ours are there'
runs 0 "${study[@]}" --only ours --peer fake_right
! grep -q 'fake_right .* ok' "$folder/out" || fail 'a framework is among ours'
