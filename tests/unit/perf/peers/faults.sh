#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# faults.sh KERNELGRADE SOURCE: what frameworks do wrong stands in every table and file as a failure of theirs, and what is missing is said.
# Needs a Python and none of the frameworks.
set -euo pipefail
# shellcheck source=tests/unit/perf/peers/runs.sh
source "$(dirname "$0")/runs.sh"

case=softmax.f32.rows32_cols512
bad=(wrong later short misnamed crash hang throws unsupported)
peers=$(printf ',fake_%s' "${bad[@]}")
runs 1 peers --case $case --peer "fake_right$peers" --alone --processes 2 --row-timeout 10 --source-id test --json "$folder/peers.json"
has '^Failures' out
has "^all .* 1 / 0 / 0 / 0 .* 0 / 0 / 0 / 1" out
"$KERNELGRADE_PYTHON" - "$folder/peers.json" "${bad[@]}" <<'CHECK' || fail 'peers.json is not as it should be'
import json
import sys

rows = {row["variant"]: row for row in json.load(open(sys.argv[1]))["rows"]}
assert len(rows) == len(sys.argv) - 1, rows.keys()
right = rows["fake_right"]
assert not right["verified"] and len(right["process_medians_ns"]) == 2, right
assert right["ci_lo_ns"] <= right["median_ns"] <= right["ci_hi_ns"] and right["identity"] == "fake 1.0", right
says = {
    "wrong": "(0, 3)", "later": "(0, 3)", "short": "65532 bytes", "misnamed": "y: it is missing", "crash": "SIGSEGV",
    "hang": "not done after 10 s", "throws": "MemoryError: no memory", "unsupported": "unsupported: no softmax",
}
for name in sys.argv[2:]:
    row = rows[f"fake_{name}"]
    assert says[name] in row["verified"] and "median_ns" not in row, (name, row)
CHECK

# What a run updates is restored before the run that is judged. Where a row costs the device, another process measures the next one.
runs 0 peers --case $case --peer fake_updates --alone --processes 1 --source-id test
runs 1 peers --case $case,softmax.f32.rows32_cols1000 --peer fake_lost --alone --processes 1 --source-id test
has "cols512 .* FAILED: .*RuntimeError: an illegal address\|fake_lost .*RuntimeError: an illegal address" out
has '^all .* 1 / 0 / 0 / 0\|rows32_cols1000' out
! grep -q 'rows32_cols1000.*FAILED' "$folder/out" || fail 'the row behind the one that cost the device failed, too'

# The other commands see the same rows.
runs 1 report "$folder/peers.json" --case $case --out "$folder/report"
for name in "${bad[@]}"; do grep -q "fake_$name.*invalid" "$folder/report/rows.csv" || fail "the report does not show that fake_$name failed"; done
grep -q 'Frameworks beside one another' "$folder/report/report.md" || fail 'the report has no table of frameworks'
runs 1 gate --import "$folder/peers.json"
has 'fake_wrong' out
runs 77 compare "$folder/peers.json" "$folder/peers.json"
has 'fake_wrong' out

# What is right alone passes; who is not there is named with the fix, and nothing is measured.
runs 0 peers --case $case --peer fake_right --alone --processes 1 --source-id test --json "$folder/right.json"
runs 2 peers --case $case --peer fake_right,nobody --alone --json "$folder/nobody.json"
has 'no peer nobody' err
runs 2 peers --case $case --peer fake_right --python /nowhere/python
has 'name a Python by --python' err
[[ ! -e $folder/nobody.json ]] || fail 'it measured without one of the frameworks'
