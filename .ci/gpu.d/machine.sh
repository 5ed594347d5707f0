# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by .ci/gpu, .ci/gpu-bundle and run_unit: this machine's time budget and libraries, the source's identity, and running commands.

# Variables that run_unit needs from its caller.
readonly kSettings='results work tree ops all_visits measured blessed machine deadline dry_run test_limit'
export_settings() {
  local name
  for name in $kSettings; do export "VISIT_$name=${!name}"; done
  export VISIT_again="${again[*]}"
}
import_settings() {
  local name variable
  for name in $kSettings; do
    variable=VISIT_$name
    printf -v "$name" %s "${!variable}"
  done
  read -ra again <<<"$VISIT_again"
}

remaining() { echo $((deadline - $(date +%s))); }

# bounded SECONDS COMMAND...: runs the command for at most that long, never beyond the budget. It stays in the caller's process group and
# ends with that group.
bounded() {
  local limit=$1 left
  shift
  left=$(remaining)
  ((left < limit)) && limit=$left
  ((limit > 0)) || return 124
  timeout --foreground -k 5 "$limit" "$@"
}

# cut_off CODE: true if the budget ended the command, which then has no outcome.
cut_off() { (($1 == 124 || $1 == 137)) && (($(remaining) <= 1)); }

# limited SECONDS COMMAND...: like bounded, in its own process group, which ends with the caller's step.
limited() {
  local limit=$1 left
  shift
  if ((dry_run)); then
    printf '%q ' "$@"
    echo
    return 0
  fi
  left=$(remaining)
  ((left < limit)) && limit=$left
  ((limit > 0)) || { echo 'no time is left'; return 124; }
  timeout -k 5 "$limit" "$@" &
  wait $!
}

# done_unit PACK VISIT UNIT OUTCOME SECONDS NOTE: packs the results first, then writes the unit's line.
done_unit() {
  ((dry_run == 0)) || return 0
  (
    flock 9
    pack "$1"
  ) 9>"$work/publish.lock" || return 1
  shift
  record "$@"
  printf '%-12s %-28s %-7s %4s s  %s\n' "$@"
  # For people; done.tsv is already up to date.
  if [[ ! -e $results/summary.txt ]] || (($(date +%s) - $(stat -c %Y "$results/summary.txt") >= 5)); then publish; fi
}

# side_by_side VISIT JOBS: runs the units listed on standard input, JOBS at a time on each GPU. CTest assigns slots, also across several
# GPUs; without CTest, xargs starts as many units at a time.
side_by_side() {
  local visit=$1 jobs=$2 unit cost=10000 gpus units
  mapfile -t units
  ((${#units[@]} > 0)) || return 0
  if ((dry_run)); then
    printf '%d times, %d at a time: run_unit %s %s\n' "${#units[@]}" "$jobs" "$visit" "${units[0]}"
    return 0
  fi
  if ! command -v ctest >/dev/null; then
    printf '%s\0' "${units[@]}" >"$work/units"
    limited 36000 xargs -0 -a "$work/units" -n 1 -P "$jobs" .ci/gpu.d/run_unit "$visit"
    return 0
  fi
  rm -rf "$work/ctest"
  mkdir -p "$work/ctest"
  for unit in "${units[@]}"; do
    printf 'add_test([==[%s]==] "%s" "%s" [==[%s]==])\nset_tests_properties([==[%s]==] PROPERTIES RESOURCE_GROUPS gpus:1 COST %d)\n' \
      "$unit" "$PWD/.ci/gpu.d/run_unit" "$visit" "$unit" "$unit" $((cost--))
  done >"$work/ctest/CTestTestfile.cmake"
  gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader | awk -v jobs="$jobs" '{ printf "%s{\"id\": \"%s\", \"slots\": %d}", n++ ? ", " : "", $1, jobs }')
  printf '{"version": {"major": 1, "minor": 0}, "local": [{"gpus": [%s]}]}\n' "$gpus" >"$work/gpus.json"
  jobs=$((jobs * $(grep -o '"id"' "$work/gpus.json" | wc -l)))
  limited 36000 ctest --test-dir "$work/ctest" --resource-spec-file "$work/gpus.json" -j $jobs --timeout 36000 -V >"$work/ctest.log" 2>&1 || true # the journal knows
  sed -nE 's/^[0-9]+: ((correctness|alone|sanitize) .*)/\1/p' "$work/ctest.log"
  # Units record their own failures; a unit that cannot points to a bug in this script.
  ! grep -q '\*\*\*Failed' "$work/ctest.log" || (($(remaining) <= 0)) || grep -B 3 '\*\*\*Failed' "$work/ctest.log"
}

# name_of_source: the commit; without git, a hash of all compiled sources. Ends with -dirty if changes are uncommitted: kernelgrade neither
# resumes nor blesses rows of such a source. Blessed baselines do not count as a change.
name_of_source() {
  local commit=''
  [[ ! -e .git ]] || commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || true
  if [[ -z $commit ]]; then
    find CMakeLists.txt cmake kernels perf tests -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | sed 's/^\(.\{12\}\).*/tree-\1/'
  elif [[ -z $(git status --porcelain --untracked-files=no -- . ':(exclude)baselines') ]]; then
    echo "$commit"
  else
    echo "$commit-dirty"
  fi
}

# Fails before minutes are spent on rows that cannot be used.
require_clean() {
  [[ $1 != *-dirty ]] || { echo "the source $1 has changes that are not committed, so its rows could not be gone on with or blessed: commit or stash them, or name it by --source-id"; return 1; }
}

# whole_bundle: true if every file of the manifest exists and is unchanged.
whole_bundle() {
  [[ ! -e manifest.txt ]] || ! grep -q '^file ' manifest.txt || sed -n 's/^file //p' manifest.txt | sha256sum --quiet -c - ||
    { echo 'the bundle is not whole: unpack it again, or make it again by .ci/gpu-bundle --prebuilt'; return 1; }
}

# Programs built against a toolkit name its libraries, not their folders. Python packages also contain libraries.
find_libraries() {
  local folder found='' nvcc
  nvcc=$(command -v nvcc || true)
  for folder in ${nvcc:+"$(dirname "$(dirname "$(realpath "$nvcc")")")"/lib64} /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 \
    /usr/local/cuda*/targets/*/lib /usr/local/cuda/extras/CUPTI/lib64 $(python_library_folders); do
    [[ ! -d $folder || :$found: == *:$folder:* ]] || found+=:$folder
  done
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH}$found
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH#:}
}

python_library_folders() {
  local python
  python=$(command -v python3 || command -v python) || return 0
  "$python" -c 'import glob, nvidia
for path in nvidia.__path__: print("\n".join(glob.glob(path + "/*/lib")))' 2>/dev/null || true
}

find_gpu() {
  gpu_works || { echo 'no working GPU: nvidia-smi -L lists none'; return 1; }
  nvidia-smi --query-gpu=name,uuid,driver_version,compute_cap,clocks.max.sm,clocks.max.mem,power.limit,ecc.mode.current,mig.mode.current \
    --format=csv | tee "$work/logs/device.txt"
  ! find_nvcc || nvcc --version | tail -2 | sed -n 1p | tee -a "$work/logs/device.txt"
  pack logs
}

# From source: builds everything that compiles, despite errors. A bundle needs no build.
build() {
  local architectures=90a-real options=() code=0 targets wanted='' programs=(kernelgrade instructions_test)
  find_nvcc || ((dry_run)) || { echo 'nvcc not found on PATH or in /usr/local/cuda/bin; carry a bundle instead (.ci/gpu-bundle --prebuilt)'; return 1; }
  ! gpu_works || architectures=$(gpu_architectures)
  [[ -z $googletest ]] || options+=("-DKERNELGRADE_GOOGLETEST_SOURCE=$googletest")
  [[ -z $headers ]] || options+=("-DKERNELGRADE_HEADERS=$headers")
  # All operations by name; otherwise CMake's cache would keep an earlier call's value.
  ((all_ops)) || wanted=${ops// /;}
  limited 60 cmake --preset cuda "-DCMAKE_CUDA_ARCHITECTURES=$architectures" "-DKERNELGRADE_OPS=$wanted" -DKERNELGRADE_WERROR=OFF \
    "${options[@]}"
  read -ra targets <<<"$ops"
  ((all_ops)) && programs+=(kernelgrade-model)
  limited 3600 cmake --build "$tree" --target "${programs[@]}" "${targets[@]/%/_test}" -- -k 0 || code=$?
  ((dry_run == 0)) || return 0
  list_tests "$tree" >"$tree/tests.txt"
  list_models "$tree" >"$tree/models.txt"
  ((code)) || record build "$machine" passed $SECONDS
  return $code
}

# list_tests TREE: "<op> <dtype> <hash of its kernels>" of CTest's correctness tests.
list_tests() {
  local op dtype last='' hash=''
  ctest --test-dir "$1" -N -L '^correctness$' | sed -nE 's/^ *Test +#[0-9]+: correctness\.([^.]+)\.([^.]+)$/\1 \2/p' | while read -r op dtype; do
    [[ $op == "$last" ]] || hash=$(hash_of_kernels "$op")
    last=$op
    echo "$op $dtype $hash"
  done
}

# list_models TREE: "<case> [large]" of the models that the gate runs; a build of some operations has no models.
list_models() { [[ ! -x $1/perf/kernelgrade-model ]] || "$1/perf/kernelgrade-model" list; }

# hash_of_kernels OP: a hash of the operation's files and our headers that they include, without comments.
hash_of_kernels() {
  local files='' more
  more=$(find "kernels/ops/$1" -type f)
  while [[ -n $more ]]; do
    files=$(printf '%s\n%s\n' "$files" "$more" | sed '/^$/d' | LC_ALL=C sort -u)
    more=$(xargs -d '\n' sed -nE 's,^#include "([^"]+)".*,kernels/\1,p' <<<"$more" | LC_ALL=C sort -u | LC_ALL=C comm -13 <(echo "$files") - |
      while read -r file; do [[ ! -f $file ]] || echo "$file"; done)
  done
  [[ -z $files ]] || xargs -d '\n' awk 'FNR == 1 { print FILENAME } { sub(/\/\/.*/, ""); sub(/[ \t]+$/, "") } NF' <<<"$files" | sha256sum | cut -c1-12
}
