#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# A study that is killed in the middle (SIGKILL) and resumed measures what an unbroken one does, each experiment once:
#   killed.sh BUILT_KERNELGRADE
set -euo pipefail
kernelgrade=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
study=("$kernelgrade" study vector_add --max-size 64 --source-id test)

fail() {
  echo "FAILED: $*"
  exit 1
}
# The experiments of a study's only file, in its order.
experiments() { sed 1d "$1"/*.jsonl | grep -o '"case":"[^"]*"\|"variant":"[^"]*"'; }
lines() { cat "$1"/*.jsonl 2>/dev/null | wc -l; }

code=0
"${study[@]}" --out "$work/whole" >"$work/whole.txt" || code=$?
[[ $code != 77 ]] || exit 77
[[ $code == 0 ]] || fail "the unbroken study ended with $code"
all=$(lines "$work/whole")

# Killed after its second experiment, while it measures the third.
"${study[@]}" --out "$work/killed" >/dev/null 2>&1 &
pid=$!
while (($(lines "$work/killed") < 3)) && kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -KILL $pid || fail 'the study ended before it was killed'
wait $pid 2>/dev/null && fail 'it was not killed'
before=$(lines "$work/killed")
((before >= 3 && before < all)) || fail "killed with $before of $all lines"
cp "$work"/killed/*.jsonl "$work/before"

"${study[@]}" --out "$work/killed" --resume >"$work/resumed.txt" 2>"$work/resumed.err" || fail "resuming: $(cat "$work/resumed.err")"
grep -q "going on with .*: $((before - 1)) of $((all - 1)) experiments are done" "$work/resumed.err" || fail "$(cat "$work/resumed.err")"
[[ $(lines "$work/killed") == "$all" ]] || fail "$(lines "$work/killed") of $all lines after resuming"
head -n "$before" "$work"/killed/*.jsonl | cmp - <(head -n "$before" "$work/before") || fail 'what was measured has changed'
diff <(experiments "$work/whole") <(experiments "$work/killed") || fail 'other experiments than unbroken'
"${study[@]}" --out "$work/killed" --resume >/dev/null 2>&1 && fail 'a finished study was resumed'
echo "ok: killed after $((before - 1)) of $((all - 1)) experiments, resumed"
