#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# models.sh KERNELGRADE SOURCE: a whole model as a case of other frameworks: the weights that it gets suffice, a wrong output is shown as such,
# and so is a model that there is not. Needs a Python and none of the frameworks.
set -euo pipefail
# shellcheck source=tests/unit/perf/peers/runs.sh
source "$(dirname "$0")/runs.sh"

shape=mlp_dim8_layers3_batch64_inference
runs 1 peers --op model --shape $shape --peer fake_right,fake_wrong,fake_unsupported --processes 1 --source-id test --json "$folder/peers.json"
has "model.f32.$shape .* FAILED: wrong result .* FAILED: unsupported" out
has 'fake_wrong .*output: element 3 is .* must come out\|fake_wrong .*output: mean absolute error' out
has '^all .* 1 / 0 / 0 / 0 .* 0 / 0 / 0 / 1' out
runs 1 report "$folder/peers.json" --op elementwise --dtype f32 --out "$folder/report"
grep -q "$shape.*fake_wrong.*invalid" "$folder/report/rows.csv" || fail 'the report does not show that fake_wrong failed'
grep -q "$shape" "$folder/report/report.md" || fail 'the report has no model among the frameworks'
runs 77 compare "$folder/peers.json" "$folder/peers.json"
has 'fake_wrong' out

runs 0 peers --op model --shape $shape --peer fake_right --processes 1 --source-id test

# Losses of training are drawn over each other, those of a framework that is wrong, too.
runs 1 peers --op model --shape mlp_dim8_layers3_batch64_training_steps3 --peer fake_right --processes 1 --source-id test --json "$folder/trained.json"
grep -q '"losses":"1 1 1 1"' "$folder/trained.json" || fail 'the file lacks the losses'
runs 1 report "$folder/trained.json" --op elementwise --dtype f32 --out "$folder/trained"
grep -q '>Losses of training, over each other<' "$folder/trained/peers.html" || fail 'the losses are not drawn'
for name in 'this suite' 'fake_right (FAILED)'; do
  grep -q ">$name</text>" "$folder/trained/peers.html" || fail "no losses of $name"
done
runs 2 peers --op model --shape lenet --peer fake_right --processes 1
has 'model.f32.lenet: no listed model has this in its id' err
