#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# guard.sh GUARD: programs that fork, leave their session, stop, grow and wait for ever, below kernelgrade-guard. None of their
# processes may be left, whoever ends: the program, the guard or who started it.
# shellcheck disable=SC2016 # what the inner shell expands
set -uo pipefail
guard=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
run=0 # each program waits for a time of its own, by which its processes are found

fail() {
  echo "FAILED: $*"
  failed=1
}

# waits: a number of seconds that nothing else on this machine waits.
waits() {
  run=$((run + 1))
  echo "9$$.$run"
}

# none_left WHAT TIME
none_left() {
  local tries=0
  while pgrep -f "^sleep $2\$" >"$work/left"; do
    ((++tries < 40)) || { fail "$1: it left the processes $(tr '\n' ' ' <"$work/left")"; return; }
    sleep 0.1
  done
  echo "ok: $1"
}

# expect WHAT CODE WORDS ARGUMENT...: of the guard.
expect() {
  local what=$1 code=$2 words=$3 got
  shift 3
  { "$guard" "$@"; } >"$work/output" 2>&1
  got=$?
  ((got == code)) || fail "$what: exit code $got, not $code"
  [[ -z $words ]] || grep -qF -- "$words" "$work/output" || fail "$what: no '$words' in: $(cat "$work/output")"
}

# until_running TIME: waits until `sleep TIME` runs.
until_running() {
  local tries=0
  until pgrep -f "^sleep $1\$" >/dev/null; do
    ((++tries < 100)) || { fail "sleep $1 does not start"; return; }
    sleep 0.05
  done
}

expect 'an exit code' 7 '' -- sh -c 'exit 7'
expect 'a signal' 139 '' -- sh -c 'kill -SEGV $$'
expect 'output' 0 'said' -- echo said
expect 'no program' 127 'No such file' -- "$work/none"
expect 'an option that is none' 2 'is not a limit' --second 3 -- true
expect 'a number that is none' 2 'is not a limit' --seconds 3x -- true

# Confined: what is written elsewhere, and a socket of the Internet, fail for the program and its children. A kernel without Landlock
# must refuse to start the program.
mkdir "$work/own" "$work/other"
echo kept >"$work/other/file"
if "$guard" --write "$work/own" -- true 2>"$work/output"; then
  expect 'a write to its own folder' 0 '' --write "$work/own" -- sh -c 'echo >"$0/file" && mkdir "$0/more" && mv "$0/file" "$0/more"' "$work/own"
  expect 'a device' 0 '' --write "$work/own" -- sh -c 'echo >/dev/null'
  expect 'a second folder' 0 '' --write "$work/own" --write "$work/other" -- sh -c 'echo >"$0/new" && rm "$0/new"' "$work/other"
  for change in 'echo >"$0/new"' 'echo >>"$0/file"' 'rm "$0/file"' 'mv "$0/file" "$0/../own"' 'mkdir "$0/new"' 'ln -s / "$0/new"' 'sh -c "truncate -s 0 $0/file"'; do
    expect "elsewhere: $change" 1 '' --write "$work/own" -- sh -c "$change || exit 1" "$work/other"
  done
  [[ $(cat "$work/other/file") == kept && $(ls "$work/other") == file ]] || fail 'what lay elsewhere has changed'
  expect 'a socket' 1 'Permission denied' --write "$work/own" -- python3 -c 'import socket; socket.socket()'
  expect 'a socket of this machine' 0 '' --write "$work/own" -- python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
  expect 'a folder that is none' 125 'the sandbox cannot be made' --write "$work/none" -- true
else
  expect 'no Landlock' 125 'the sandbox cannot be made' --write "$work/own" -- true
  echo 'not shown: what the sandbox keeps from writing; this kernel has no Landlock'
fi
expect 'no limit' 2 'is not a limit' --seconds 0 -- true
expect 'nothing' 2 'usage'

time=$(waits)
expect 'a child in a session of its own' 3 '' -- sh -c "setsid sleep $time & exit 3"
none_left 'a child in a session of its own' "$time"

time=$(waits)
expect 'a child of a child that has ended' 0 '' -- sh -c "(setsid setsid sleep $time &) & exit 0"
none_left 'a child of a child that has ended' "$time"

time=$(waits)
expect 'for ever' 124 'FAILED: it was not done after 1 s' --seconds 1 -- sh -c "setsid sleep $time & sleep $time"
none_left 'for ever' "$time"

time=$(waits)
expect 'deaf to signals' 124 'not done' --seconds 1 -- sh -c "trap '' TERM INT HUP; setsid sleep $time & sleep $time; sleep $time"
none_left 'deaf to signals' "$time"

time=$(waits)
expect 'many processes' 125 'FAILED: it had more than 20 processes at once' --processes 20 -- \
  sh -c "for i in \$(seq 60); do setsid sleep $time & done; wait"
none_left 'many processes' "$time"

expect 'a signal to its process group' 137 '' -- sh -c 'kill -KILL 0' </dev/null
if unshare --pid --fork true 2>/dev/null || unshare --user --pid --fork true 2>/dev/null; then
  # shellcheck disable=SC2016
  expect 'its number in a namespace' 0 '' -- sh -c '[ $$ -lt 10 ]'
  time=$(waits)
  expect 'a fork bomb' 125 'FAILED: it had more than 20 processes at once' --seconds 60 --processes 20 -- \
    bash -c "exec 2>/dev/null; bomb() { bomb & bomb & sleep $time; }; bomb"
  none_left 'a fork bomb' "$time"
  expect 'an aborted one' 134 '' -- sh -c 'kill -ABRT $$'
else
  echo 'not shown: a fork bomb; this user may have no PID namespace'
fi

expect 'much memory' 125 'FAILED: it held more than 50 MiB of memory' --megabytes 50 -- sh -c 'x=$(head -c 120000000 /dev/zero | tr "\0" x); sleep 5'
expect 'a large file' 153 '' --file-megabytes 1 -- sh -c 'exec head -c 3000000 /dev/zero >"$1"' sh "$work/large"
(($(stat -c %s "$work/large") == 1 << 20)) || fail 'a large file: it has another size'
expect 'one that stops itself' 125 'FAILED: a process of it has stopped' --seconds 60 -- sh -c 'kill -STOP $$'

for signal in TERM INT HUP; do
  time=$(waits)
  # Of what a shell starts in the background, INT is ignored.
  env --default-signal=INT "$guard" -- sh -c "setsid sleep $time & sleep $time" &
  until_running "$time"
  kill -$signal $!
  wait $! 2>/dev/null
  (($? == 128 + $(kill -l $signal))) || fail "$signal: another exit code"
  none_left "the guard is sent $signal" "$time"
done

time=$(waits)
sh -c "'$guard' --with-parent 1 -- sh -c 'setsid sleep $time & sleep $time' & wait" &
until_running "$time"
kill -KILL $!
wait $! 2>/dev/null
none_left 'who started the guard is killed' "$time"

exit $failed
