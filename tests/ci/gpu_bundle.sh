#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_bundle.sh: a bundle as .ci/gpu-bundle packs it, of stand-ins for the programs, unpacked on a machine without git, CMake or packages:
# `.ci/gpu next` does everything there. Then with files missing: each makes it fail.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
# shellcheck source=tests/ci/gpu_machine.sh
source "$(dirname "${BASH_SOURCE[0]}")/gpu_machine.sh"
[[ -d /usr/src/googletest ]] || { echo 'skipped: the package googletest is not installed'; exit 77; }

# The source, and a compiler, CMake and binutils that make links to stand-ins.
mkdir -p "$work"/{source,tools} "$work/bin"
(cd "$root" && cp -r --parents .ci LICENSE baselines tests/sanitize.sh kernels perf/code/timing_model/gpus.json perf/peers "$work/source/")
mkdir -p "$work/source/build/cudnn-frontend/lib/python3.12/site-packages/include/cudnn_frontend" # as installed
touch "$work/source/build/cudnn-frontend/lib/python3.12/site-packages/include/cudnn_frontend_version.h"
cat >"$work/bin/cmake" <<TEXT
#!/usr/bin/env bash
[[ \$1 == --build ]] || exit 0
mkdir -p build/bundle/perf
for op in axpy; do ln -sf $root/tests/ci/stand_in/test_program build/bundle/\${op}_test; done
ln -sf $root/tests/ci/stand_in/instructions build/bundle/instructions_test
ln -sf $root/tests/ci/stand_in/kernelgrade{,-model} build/bundle/perf/
TEXT
cat >"$work/bin/ctest" <<'TEXT'
#!/bin/sh
mkdir -p build/bundle
echo '  Test  #1: correctness.axpy.f32'
TEXT
# shellcheck disable=SC2016 # of the script that it writes
printf '#!/bin/sh\ncp -P "$3" "$2"\n' >"$work/bin/strip"
printf '#!/bin/sh\n' >"$work/bin/readelf"
cp "$root/tests/ci/stand_in/nvcc" "$work/bin/"
chmod +x "$work"/bin/*
ln -s /usr/bin/* "$work/tools/"
rm -f "$work"/tools/{git,cmake,ctest,apt-get,apt,dpkg,g++,gcc}

bundle() { (cd "$work/source" && mkdir -p build/bundle && PATH=$work/bin:$PATH .ci/gpu-bundle --prebuilt "$work/bundle.tar.xz" --source-id rehearsal); }
unpacked() {
  rm -rf "$work/machine" "$work/results"
  tar -xJf "$work/bundle.tar.xz" -C "$work"
  mv "$work/kernelgrade" "$work/machine"
  mkdir "$work/machine/bin"
  add_tools
  : >"$work/truth"
  : >"$work/faults"
}
on_bare_machine() { PATH=$work/tools visit "$@"; }

bundle >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
unpacked
check "it is built with cudnn-frontend's headers" test -e "$work/source/build/bundle-sources/headers/cudnn_frontend_version.h"
check 'it names its source and holds hashes' test "$(grep -c '^source rehearsal$' "$work/machine/manifest.txt"):$(grep -c '^file ' "$work/machine/manifest.txt" | sed 's/[0-9]\{3,\}/many/')" = 1:many
on_bare_machine next --budget 90m
check 'next does everything on the bare machine' test "$code" = 0
((code == 0)) || tail -n 40 "$work/log"
for visit in correctness models peers rounds bless gate calibrate sanitize ceilings instructions; do
  check "$visit has passed there" grep -q "^$visit	[^	]*	passed	" "$work/results/done.tsv"
done

# What got lost on the way is found before a minute of a GPU is spent.
for file in .ci/gpu.d/queue.awk kernels/models/configs/qwen2.5-0.5b.json; do
  unpacked
  rm "$work/machine/$file"
  on_bare_machine next --budget 90m
  check "without $file nothing runs" test "$code:$(wc -l <"$work/truth")" = 1:0
  check 'the file is named' said "$file"
done

# And what was never packed fails when it is needed.
while read -r visit file; do
  mv "$work/source/$file" "$work/kept"
  check "a bundle without $file" bundle
  mv "$work/kept" "$work/source/$file"
  unpacked
  on_bare_machine "$visit" --budget 90m
  check 'is red' test "$code" = 1
done <<'TEXT'
models kernels/models/configs/qwen2.5-0.5b.json
peers perf/peers/kernelgrade_peers/__main__.py
next .ci/gpu.d/first.txt
TEXT
exit $failed
