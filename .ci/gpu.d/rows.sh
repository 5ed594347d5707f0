# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of .ci/gpu
#
# Sourced by .ci/gpu: work that needs the GPU exclusively: the smoke test, ceilings, rows, and the baselines made from them.

# list_rows OPTION...: "<case> <variant>..." of the listed rows, including vendors'; the slow variants naive and direct only with --naive,
# since some take a second per launch.
list_rows() {
  "$kernelgrade" list "${subset[@]}" "$@" |
    awk -F'  +' -v naive="$naive" '$1 ~ /^[a-z0-9_]+\.[a-z0-9]+\./ {
      line = $1; n = split($2, words, " ")
      for (i = 1; i <= n; i++) { sub(/\*$/, "", words[i]); if (naive || (words[i] != "naive" && words[i] != "direct")) line = line " " words[i] }
      if (line != $1) print line }'
}

variants_of() { cut -d' ' -f2- | tr ' ' '\n' | sort -u | paste -sd,; }

missing_libraries() {
  local program
  for program in "$kernelgrade" "$tree/$1_test"; do ldd "$program" 2>/dev/null | awk '/not found/ { print $1 }' || true; done | sort -u
}

# Half a minute that decides whether this machine is worth the rest: the libraries load, a test runs, a row is timed, and the L2 flush is
# verified, on which every cold row depends. If the tests run and a row does not, writes the reason to $work/no_rows.
smoke() {
  local op=softmax dtype=f32 found test row begin=$SECONDS
  [[ " $ops " == *" $op "* ]] || op=$(by_worth | sed -n 1p)
  if ((dry_run)); then
    printf 'ldd %s; one test of %s_test; one %s row of it; kernelgrade doctor\n' "$kernelgrade" "$op" "${mode:-cold}"
    return 0
  fi
  dtype=$(awk -v op="$op" '$1 == op { print $2; exit }' "$tree"/tests.txt)
  [[ -n $dtype ]] || { echo "$tree/tests.txt lists no test of $op"; return 1; }
  found=$(missing_libraries "$op")
  [[ -z $found ]] || {
    printf 'these libraries do not load: %s\nLD_LIBRARY_PATH=%s\n' "$(paste -sd' ' <<<"$found")" "$LD_LIBRARY_PATH"
    echo 'install them beside the toolkit, or as packages of python3 (nvidia-cublas, nvidia-cudnn-cu13), or set LD_LIBRARY_PATH'
    return 1
  }
  test=$(tests_of "$tree/${op}_test" "$dtype" | sed -n 1p)
  limited 60 "$tree/${op}_test" "--gtest_filter=$test" >"$work/smoke.log" 2>&1 || { cat "$work/smoke.log"; return 1; }
  echo "$test: passed"
  touch "$work/no_rows"
  row=$(list_rows --op "$op" --dtype "$dtype" --mode "${mode:-cold}" | sed -n 1p) || true # reports its own error
  [[ -n $row ]] || { echo "kernelgrade list shows no ${mode:-cold} rows of $op"; return 1; }
  read -r row variant _ <<<"$row"
  if ! limited 60 "$kernelgrade" run --case "$row" --variant "$variant" --mode "${mode:-cold}" --json "$work/logs/smoke.json" \
    "${source[@]}" >"$work/smoke.log" 2>&1; then
    cat "$work/smoke.log"
    ! grep -q 'flush is not proved' "$work/smoke.log" ||
      printf 'Cold rows cannot be measured here. Hot ones can:\n  .ci/gpu correctness measure bless --mode hot --out %q%s\n' "$results" "$( ((${#again[@]} == 0)) || printf ' %q' "${again[@]}")"
    return 1
  fi
  cat "$work/smoke.log"
  rm "$work/no_rows"
  limited 60 "$kernelgrade" doctor | tee "$work/logs/doctor.txt" || true # its advice does not end a visit
  done_unit logs smoke "$machine" passed $((SECONDS - begin)) "${mode:-cold} row of $row"
}

ceilings() {
  local code=0 begin=$SECONDS outcome=passed
  limited 180 "$kernelgrade" ceilings --write --baselines "$work/rounds/baselines" >"$work/logs/ceilings.new" || code=$?
  ((dry_run)) && { cat "$work/logs/ceilings.new"; return 0; }
  ! cut_off $code || return $code
  mv "$work/logs/ceilings.new" "$work/logs/ceilings.txt"
  cat "$work/logs/ceilings.txt"
  ((code == 0)) || outcome=failed
  publish rounds
  done_unit logs ceilings ceilings $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}

# take_pass VISIT UNIT PACK OPTION...: measures the rows of one "<dtype>.<mode>.<part>" in a single process at a time. Its file and journal
# grow in $results row by row; existing rows are not measured again.
take_pass() {
  local visit=$1 unit=$2 pack=$3 dtype mode part live wanted rows limit code=0 begin=$SECONDS outcome=passed
  local row_timeout=30 given=("${subset[@]}") subset
  shift 3
  IFS=. read -r dtype mode part <<<"$unit"
  [[ $part == *-all ]] && subset=() || subset=("${given[@]}")
  [[ $part != *-alone ]] || row_timeout=120
  live=$results/$visit.$unit.json
  wanted=$(list_rows --op "$(ops_of "$part" | tr ' ' ',')" --dtype "$dtype" --mode "$mode" 2>"$work/list.log") || code=$?
  rows=$(awk 'NF { n += NF - 1 } END { print n + 0 }' <<<"$wanted")
  if ((rows == 0 && dry_run == 0)); then
    # Not every operation has every type; an empty list for any other reason is a failure.
    if ((code > 1)) || ! grep -q 'no rows: each word names something' "$work/list.log"; then outcome=failed; else code=0; fi
    done_unit "$pack" "$visit" "$unit" $outcome 0 "no rows: $(tail -n 1 "$work/list.log" | tr '\t' ' ' | cut -c1-300)"
    return $code
  fi
  code=0
  ((dry_run)) || begun "$pack" "$visit.$unit"
  limit=$((30 + row_timeout + 20 * rows)) # --row-timeout limits each row, and few rows come near it
  [[ $visit != rounds ]] || limit=$((limit * rounds))
  limited $limit "$kernelgrade" run "${subset[@]}" --op "$(ops_of "$part" | tr ' ' ',')" --dtype "$dtype" --mode "$mode" \
    --variant "$(variants_of <<<"$wanted")" --json "$live" --resume --row-timeout $row_timeout \
    "$@" "${source[@]}" >"$work/pass.log" 2>&1 || code=$?
  ((dry_run)) && { cat "$work/pass.log"; return 0; }
  ! cut_off $code || { echo "$unit: the time was over; the rows in $live are kept"; return $code; }
  tail -n 40 "$work/pass.log"
  if grep -q -- '--resume: .*give --json another file' "$work/pass.log"; then # rows of another machine cannot be part of this pass
    put_aside "$pack" "$live" "$visit.$unit.elsewhere"
    take_pass "$visit" "$unit" "$pack" "$@"
    return
  fi
  ((code == 0 || code == 77)) || outcome=failed
  keep "$pack" "$work/pass.log" "$visit.$unit.log"
  put_aside "$pack" "$live" "$visit.$unit"
  record_rows "$visit" "$unit" $((SECONDS - begin)) "$wanted"
  done_unit "$pack" "$visit" "$unit" $outcome $((SECONDS - begin)) "$rows rows, exit code $code$([[ $outcome == passed ]] || echo ": $(tail -n 1 "$work/pass.log" | tr '\t' ' ' | cut -c1-300)")"
  rm -f "$live" "$live.journal"
  return $code
}

# record_rows VISIT UNIT SECONDS WANTED: records each operation's outcome from $work/pass.log, and its share of the time.
record_rows() {
  local stage=timed dtype mode part op outcome rows total
  [[ $1 != rounds ]] || { ((rounds >= 10)) && stage=blessed; }
  IFS=. read -r dtype mode part <<<"$2"
  [[ $part != *-all ]] || mode+=-all
  total=$(wc -w <<<"$4")
  while read -r op rows; do
    outcome=passed
    ! grep -Eq "^$op\\.$dtype\\..*: INVALID: " "$work/pass.log" || outcome=failed
    ! grep -Eq "^$op\\.$dtype\\..*: INVALID: it was not done after" "$work/pass.log" || outcome=hung
    record "$stage" "$op.$dtype.$mode" $outcome $((($3 * rows + total / 2) / total))
  done < <(awk '{ split($1, word, "."); n[word[1]] += NF } END { for (op in n) print op, n[op] }' <<<"$4")
}

# begun PACK PASS: packs interrupted passes other than PASS, since few files come back from a borrowed machine. Unpacks PASS unless it is
# already in $results, where it is at least as new. The journal comes first, since it holds all of its file's rows. Files of finished passes
# are removed: they are packed already, and a kill prevented their removal.
begun() {
  local file name of unit is_there=0
  for file in "$results"/{measure,rounds}.*.{json,json.journal}; do
    name=${file##*/}
    [[ -e $file && ${name%.journal} != "$2.json" ]] || continue
    unit=${name#*.} unit=${unit%.json*}
    if outcomes "${name%%.*}" | awk -F'\t' -v unit="$unit" '$1 == unit && $2 != "pending" { is_done = 1 } END { exit !is_done }'; then
      rm "$file"
      continue
    fi
    [[ $name == rounds.* ]] && of=rounds || of=rows
    keep "$of" "$file" "begun.$name"
    pack "$of"
    rm "$file"
  done
  [[ ! -e $results/$2.json && ! -e $results/$2.json.journal ]] || is_there=1
  for name in "$2.json.journal" "$2.json"; do
    file=$work/$1/begun.$name.xz
    [[ -e $file ]] || continue
    if ((!is_there)); then
      xz -dc "$file" >"$results/begun.new"
      mv "$results/begun.new" "$results/$name"
    fi
    rm "$file"
  done
}

# put_aside PACK FILE NAME: packs a file of rows, and its journal if the file is incomplete.
put_aside() {
  [[ ! -s $2 ]] || keep "$1" "$2" "$3.json"
  [[ ! -s $2.journal ]] || keep "$1" "$2.journal" "$3.json.journal"
  [[ $3 != *.elsewhere ]] || { pack "$1"; rm -f "$2" "$2.journal"; }
}

# each VISIT COMMAND...: runs every remaining unit while time remains; exit code 1 if a unit failed or was not reached.
each() {
  local visit=$1 unit code=0
  shift
  while read -r unit; do
    if ((dry_run == 0 && $(remaining) <= 0)); then return 1; fi
    "$@" "$unit" || { (($? == 77)) || code=1; }
  done < <(left "$visit")
  return $code
}

measure() { each measure measure_unit; }
measure_unit() { take_pass measure "$1" rows; }

# cuDNN's first call takes up to two seconds per process, and library rows never fail a gate: only the minimum number of rounds that a
# screen compares.
readonly kLibraryRounds=3

# Blesses each part right after its rounds: whenever the time ends, the earlier parts have baselines.
bless() {
  local code=0
  each rounds rounds_unit || code=1
  each bless bless_unit || code=1 # units whose rounds an earlier visit finished
  return $code
}
rounds_unit() {
  local code=0
  take_pass rounds "$1" rounds --rounds "$rounds" --library-rounds "$kLibraryRounds" || code=$?
  # Failed rows do not prevent the others from being blessed.
  bless_unit "$1" || code=1
  return $code
}

# Needs no device; with fewer rounds than a gate requires, the rows are informational.
bless_unit() {
  local unit=$1 code=0 begin=$SECONDS outcome=passed status=() name
  [[ -n $(outcomes rounds | awk -F'\t' -v unit="$unit" '$1 == unit') ]] || ((dry_run)) || return 1
  ((rounds >= 10)) || status=(--status info)
  rm -f "$work"/blessed.json*
  for name in json json.journal; do
    [[ ! -e $work/rounds/rounds.$unit.$name.xz ]] || xz -dc "$work/rounds/rounds.$unit.$name.xz" >"$work/blessed.$name"
  done
  if [[ -e $work/blessed.json ]] || ((dry_run)); then
    limited 120 "$kernelgrade" bless --from "$work/blessed.json" --baselines "$work/rounds/baselines" --why 'measured by .ci/gpu' \
      "${status[@]}" >"$work/bless.log" 2>&1 || code=$?
    ((dry_run)) && { cat "$work/bless.log"; return 0; }
    ! cut_off $code || return $code
    tail -n 40 "$work/bless.log"
    keep rounds "$work/bless.log" "bless.$unit.log"
  fi
  ((code == 0)) || outcome=failed
  done_unit rounds bless "$unit" $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}

# Compares a fresh run of the first blessed part with its baseline; no commit is rebuilt.
gate() {
  local unit dtype mode part code=0 begin=$SECONDS outcome=passed
  unit=$(outcomes bless | awk -F'\t' '$3 > 0 || $2 == "passed" { print $1; exit }')
  [[ -n $unit ]] || ((dry_run)) || { echo 'nothing is blessed yet'; return 1; }
  IFS=. read -r dtype mode part <<<"${unit:-f32.cold.first}"
  limited 300 env KERNELGRADE_CONFIRM=never "$kernelgrade" gate "${subset[@]}" --op "$(ops_of "$part" | cut -d' ' -f1)" --dtype "$dtype" --mode "$mode" \
    --baselines "$work/rounds/baselines" "${source[@]}" || code=$?
  ((dry_run == 0)) || return 0
  ! cut_off $code || return $code
  ((code == 0 || code == 77)) || outcome=failed
  done_unit logs gate gate $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}

# Compares all results with the committed baselines; a GPU without baselines is not a failure.
report() {
  local code=0 begin=$SECONDS outcome=passed file
  rm -rf "$work/judged" "$work/report"
  mkdir "$work/judged"
  for file in "$work"/rows/*.json.xz "$work"/logs/correctness.*.json.xz; do
    [[ ! -e $file ]] || xz -dc "$file" >"$work/judged/$(basename "$file" .xz)"
  done
  # Naive variants are optional, so they do not count as missing.
  limited 120 env -u KERNELGRADE_STRICT "$kernelgrade" report "${subset[@]}" --variant "$(list_rows --op "${ops// /,}" | variants_of)" --baselines baselines --out "$work/report" "$work"/judged/*.json || code=$?
  ((dry_run == 0)) || return 0
  ! cut_off $code || return $code
  [[ ! -d $work/report ]] || tar -cJf "$work/logs/report.tar.xz" -C "$work" report
  ((code == 0 || code == 77)) || outcome=failed
  done_unit logs report report $outcome $((SECONDS - begin)) "exit code $code"
  return $code
}
