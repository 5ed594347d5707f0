# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by grade: writes a step's output to a log and shows its progress on the console. Needs steps.sh.

# progress_of LOG: "<done> <total> <current item>", parsed from ninja's or CTest's output; nothing before they have started.
progress_of() {
  tail -c 20000 "$1" | tr '\r' '\n' | awk '
    match($0, /^\[[0-9]+\/[0-9]+\] /) {
      split(substr($0, 2, RLENGTH - 3), count, "/"); now = substr($0, RLENGTH + 1)
      sub(/.* (object|library|executable) /, "", now); sub(/\.dir\//, " ", now); sub(/.*CMakeFiles\//, "", now)
    }
    /^ *Start +[0-9]+: / { now = $0; sub(/^ *Start +[0-9]+: /, "", now) }
    match($0, /^ *[0-9]+\/[0-9]+ Test +#/) { line = $1; split(line, count, "/") }
    END { if (count[2]) print count[1], count[2], now }'
}

# progress_line NAME SECONDS LOG: "build: 120 of 310, 2 min 05 s, about 3 min 10 s left; now axpy.cu.o"
progress_line() {
  local name=$1 seconds=$2 done_now total now left=''
  read -r done_now total now < <(progress_of "$3") || true
  if [[ -z ${total:-} ]]; then
    printf '%s: %s' "$name" "$(duration "$seconds")"
    return
  fi
  # Before 5 % is done, an estimate would be a guess.
  ((done_now * 20 < total)) || left=", about $(duration $((seconds * (total - done_now) / done_now))) left"
  printf '%s: %d of %d, %s%s; now %s' "$name" "$done_now" "$total" "$(duration "$seconds")" "$left" "$now"
}

# watch NAME LOG PID: shows progress until the process ends: one line on a terminal, otherwise one line a minute.
watch() {
  local begin=$SECONDS shown=$SECONDS line
  while kill -0 "$3" 2>/dev/null; do
    if [[ -t 1 ]]; then
      line=$(progress_line "$1" $((SECONDS - begin)) "$2")
      printf '\r\033[K%s' "${line:0:$((${COLUMNS:-$(tput cols 2>/dev/null || echo 100)} - 1))}"
    elif ((SECONDS - shown >= 60)); then
      shown=$SECONDS
      printf '    %s\n' "$(progress_line "$1" $((SECONDS - begin)) "$2")"
    fi
    sleep 1
  done
  [[ ! -t 1 ]] || printf '\r\033[K'
}

# quiet_step NAME LOG COMMAND...: sends the step's output to the log; on failure, also prints the last lines to the console.
quiet_step() {
  local name=$1 log=$2 begin=$SECONDS result=ok
  shift 2
  mkdir -p "$(dirname "$log")"
  : >"$log"
  # A function tested with || would run without `set -e`.
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1 &
  running_step=$!
  watch "$name" "$log" $running_step
  wait $running_step
  step_code=$?
  set -e
  running_step=''
  ((step_code == 0)) || result="FAILED ($step_code)"
  note_step "$name" $((SECONDS - begin)) "$result"
  printf '%-14s %-12s %s\n' "$name" "$result" "$(duration $((SECONDS - begin)))"
}

# Background steps end with the script.
running_step=''
end_running_step() {
  [[ -z $running_step ]] || { pkill -P "$running_step"; kill "$running_step"; } 2>/dev/null || true
}
