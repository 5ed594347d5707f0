#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# shards.sh KERNELGRADE SOURCE: .ci/slurm on a real Slurm of two nodes on this machine: shards that pass are the whole run; a shard whose node
# is killed is named and fails, and the same call again runs it alone; a shard that fails fails. The same of a study, which goes on behind
# what the killed node left. Without slurmctld, slurmd, munged or root the test is skipped (77), and fails under KERNELGRADE_STRICT=1.
set -euo pipefail
kernelgrade=$1
source=$2
reason=''
for each in slurmctld slurmd munged sbatch; do command -v $each >/dev/null || reason="there is no $each (apt-get install slurm-wlm munge)"; done
((EUID == 0)) || reason='it needs root'
if [[ -n $reason ]]; then
  echo "skipped: $reason"
  [[ ${KERNELGRADE_STRICT:-0} != 1 ]] || exit 1
  exit 77
fi
# shellcheck source=tests/ci/slurm/cluster.sh
source "$source/tests/ci/slurm/cluster.sh"
folder=$(mktemp -d)
fail() {
  echo "shards.sh: $1"
  cat "$folder/text"
  tail -n 20 "$folder"/cluster/log/* "$folder"/*/*.log 2>/dev/null
  exit 1
}
touch "$folder/text"
trap 'cluster_stop; rm -rf "$folder"' EXIT
cluster_start "$folder/cluster" || fail 'the cluster did not come up'

# kernelgrade, which in a shard waits for a kill where it is told to; of a study all but the last experiment is done by then.
cat >"$folder/program" <<TEXT
#!/usr/bin/env bash
if [[ " \$* " == *' --shard 2/2 '* && -e $folder/hold ]]; then
  if [[ \$1 == study ]]; then
    $kernelgrade "\$@"
    sed -i '\$d' "\${*: -1}"/*.jsonl
  fi
  touch $folder/held
  sleep 600
fi
if [[ -e $folder/break && " \$* " == *' --shard 1/2 '* ]]; then
  $kernelgrade "\$@"
  exit 1
fi
exec $kernelgrade "\$@"
TEXT
chmod +x "$folder/program"
export KERNELGRADE=$folder/program
rows=(run --op elementwise --dtype f32 --mode real --processes 1 --quiet --source-id test)
export KERNELGRADE_BRIEF=1
# runs CODE OUT: both shards.
runs() {
  local code=0
  timeout 300 "$source/.ci/slurm" --shards 2 --out "$folder/$2" -- "${rows[@]}" >"$folder/text" 2>&1 || code=$?
  [[ $code == "$1" ]] || fail "exit code $code in place of $1"
}
has() { grep -q -- "$1" "$folder/text" || fail "no '$1'"; }
count() { grep -o '"variant":' "$1" | wc -l; }
# kills OUT: the node on which the second shard has begun, which is named: node.
kills() {
  touch "$folder/hold"
  runs 1 "$1" & waiting=$!
  for _ in {1..240}; do [[ -e $folder/held ]] && break; sleep 0.5; done
  [[ -e $folder/held ]] || fail 'the second shard did not begin'
  node=$(grep -ho 'kg[12]$' "$folder/$1/2.log")
  cluster_kill_node "$node"
  wait $waiting || fail 'a lost shard is not a failure'
  rm "$folder/hold" "$folder/held"
  cat "$folder/text"
  has "shard 2/2 is LOST: NODE_FAIL on $node (job .*_2); its output: "
  has '^shard 1/2 passed'
  has '1 of 2 shards are lost, and nothing is joined'
}

# Both pass, each on a node of its own, and together they are the whole.
runs 0 right
cat "$folder/text"
"$kernelgrade" "${rows[@]}" --json "$folder/whole.json" >/dev/null
[[ $(count "$folder/right/rows.json") == "$(count "$folder/whole.json")" ]] || fail 'the shards are not all rows'
(($(count "$folder/right/1.json") < $(count "$folder/whole.json"))) || fail 'the first shard is everything'
[[ $(grep -ho 'on kg[12]$' "$folder"/right/?.log | sort -u | wc -l) == 2 ]] || fail 'the shards were not on two nodes'

# A node dies.
kills killed
[[ ! -e $folder/killed/rows.json ]] || fail 'rows.json is there without a shard'

# The same call on the node that is left.
runs 0 killed
has '^job .*: shards 2 of 2'
has '^all shards: '
[[ $(count "$folder/killed/rows.json") == "$(count "$folder/whole.json")" ]] || fail 'the shards are not all rows after the loss'
rows+=(--shuffle 7)
runs 2 killed
has 'holds another run: '

# A shard that fails.
slurmd -N "$node"
touch "$folder/break"
runs 1 broken
has '^shard 1/2 FAILED (1): '
has '^shard 2/2 passed'
rm "$folder/break"

# A study.
rows=(study vector_add --max-size 64 --processes 1 --quiet --source-id test)
kills study
[[ ! -e $folder/study/study.jsonl ]] || fail 'study.jsonl is there without a shard'
runs 0 study
has '^job .*: shards 2 of 2'
has '^all shards: '
grep -q "going on with $folder/study/2/.*jsonl: [1-9]" "$folder/study/2.log" || fail 'the shard did not go on with what was there'
"$kernelgrade" "${rows[@]}" --out "$folder/whole" >/dev/null
planned() { head -n 1 "$@" | grep -o '"plan":.*'; }
[[ $(planned "$folder/study/study.jsonl") == "$(planned "$folder"/whole/*.jsonl)" ]] || fail 'the joined study has another plan'
[[ $(wc -l <"$folder/study/study.jsonl") == $(cat "$folder"/whole/*.jsonl | wc -l) ]] || fail 'the shards are not all experiments'
(($(wc -l <"$folder/study/1.jsonl") < $(wc -l <"$folder/study/study.jsonl"))) || fail 'the first shard is everything'
echo 'passed'
