#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The scripts that workflows run beside .ci/run and .ci/gpu, with a repository, a remote and a `gh` of their own:
#   scripts.sh SOURCE_DIR BUILT_KERNELGRADE
# shellcheck disable=SC2317 # functions that check calls
set -euo pipefail
source_dir=$1
kernelgrade=$2
unset GITHUB_STEP_SUMMARY # that of the job which runs this test is not for the scripts under test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "ok: $what"; else echo "FAILED: $what"; failed=1; fi
}

# A clone that the scripts may change, whose remote is a bare repository, and whose `kernelgrade` is built already.
git init --quiet --bare "$work/remote"
mkdir "$work/project"
cp -r "$source_dir/.ci" "$source_dir/baselines" "$work/project/"
printf 'report/\nbuild/\n' >"$work/project/.gitignore"
cd "$work/project"
git init --quiet --initial-branch main
git config user.name test
git config user.email test@example.com
git add --all
git commit --quiet --message 'a state'
git remote add origin "$work/remote"
git push --quiet origin main
mkdir -p build/host/perf report "$work/bin"

# A command that says what it was called with; the last argument of the first line names its exit code.
cat >build/host/perf/kernelgrade <<'TEXT'
#!/usr/bin/env bash
printf 'called: %s\n' "$*"
if [[ "$1 $2" == 'history import' ]]; then echo night >>report/history.sqlite; fi
if [[ $1 == report ]]; then printf '## Kernelgrade: FAILED\n\n### What failed\n' >report/summary.md; fi
if [[ $1 == bless ]]; then sed -i '2s/[0-9.]\+/1.5/' baselines/host/softmax.csv; fi
[[ $1 != report ]] || exit "${FAKE_EXIT_REPORT:-0}"
exit "${FAKE_EXIT:-0}"
TEXT
chmod +x build/host/perf/kernelgrade
# Neither packages nor a build.
cat >>.ci/steps.sh <<'TEXT'
build_command() { mkdir -p report; }
TEXT
git commit --quiet --all --message 'no build'
cat >"$work/bin/gh" <<'TEXT'
#!/usr/bin/env bash
printf '%s\n' "$*" >>"$GH_LOG"
case "$*" in
  *pulls\?state=open*) echo "${FAKE_PULL:-}" ;;
  *'run download'*)
    [[ -n ${FAKE_REPORT:-} ]] || exit 1
    folder=${*: -1}
    mkdir -p "$folder/report-host"
    cp -P "$FAKE_REPORT" "$folder/report-host/report.json"
    printf '## Kernelgrade: passed\n' >"$folder/report-host/summary.md"
    ;;
  *PATCH* | *POST*) for word in "$@"; do [[ $word != body=@* ]] || cp "${word#body=@}" "$GH_BODY"; done ;;
  *issues/*/comments*) jq -r "${*: -1}" <<<"${FAKE_COMMENTS:-[]}" ;;
  *actions/runs/*/jobs*) jq -r "${*: -1}" <<<"${FAKE_JOBS:-{\"jobs\": []\}}" ;;
esac
TEXT
chmod +x "$work/bin/gh"
export PATH=$work/bin:$PATH GH_LOG=$work/gh.log GH_BODY=$work/body.md GH_REPO=o/r RUN=7 HEAD=abc BACKEND=host WHY='faster "now"'

# ab: options, output, exit code.
code=0
touch report/ab.json
ROWS='--op softmax --fast' BASE=main FAKE_EXIT=1 bash .ci/ab >"$work/ab.log" || code=$?
check 'ab ends as kernelgrade does' test $code = 1
check 'ab hands over its rows' grep -q '^called: ab --base main --op softmax --fast --json report/ab.json$' report/ab.txt
check 'ab makes a page' grep -q '^called: report report/ab.json --out report$' report/report.txt
check 'ab writes a summary' test "$(sed -n '1p;3p;4p' report/summary.md | tr '\n' ';')" = \
  '## Beside main: exit code 1;### What failed;    called: ab --base main --op softmax --fast --json report/ab.json;'

# rows: a part, and all of them joined.
BACKEND=host bash .ci/rows measure 2/3 >"$work/rows.log"
check 'rows measures its part' grep -q '^called: gate --shard 2/3 --json report/rows.json$' "$work/rows.log"
mkdir -p parts/rows-0 parts/rows-1
touch parts/rows-0/rows.json parts/rows-1/rows.json
code=0
FAKE_EXIT_REPORT=1 bash .ci/rows join parts >"$work/rows.log" || code=$?
check 'rows joins the parts' grep -q '^called: merge parts/rows-0/rows.json parts/rows-1/rows.json --json report/rows.json$' "$work/rows.log"
check 'rows reports the whole' grep -q '^called: report report/rows.json --out report$' "$work/rows.log"
check 'rows ends as the report does' test $code = 1
check 'rows shows the nights before' grep -q '^called: report report/rows.json --out report --history report/history.sqlite$' "$work/rows.log"

# study: a part, and all of them joined.
STUDY='matmul --max-size 4096' bash .ci/study measure 2/3 >"$work/study.log"
check 'study measures its part' grep -q '^called: study matmul --max-size 4096 --shard 2/3 --out report/part$' "$work/study.log"
mkdir -p parts/study-0/part parts/study-1/part
touch parts/study-0/part/matmul-1.jsonl parts/study-1/part/matmul-2.jsonl report/study.jsonl
code=0
FAKE_EXIT=1 STUDY=matmul bash .ci/study join parts >"$work/study.log" || code=$?
check 'study joins the parts' grep -q \
  '^called: merge parts/study-0/part/matmul-1.jsonl parts/study-1/part/matmul-2.jsonl --json report/study.jsonl$' "$work/study.log"
check 'study has its page, also of exponents that fail' grep -q '^called: report report/study.jsonl --out report$' "$work/study.log"
check 'study ends as the joined file is judged' test $code = 1
rm report/study.jsonl

# history: the nights are joined in one commit of a branch, and none is lost to another that ran beside it.
nights() { git -C "$work/remote" show perf-history:history.sqlite.gz | gunzip; }
check 'history: the first night finds none' test -z "$(cat report/history.base)"
check 'history is kept' .ci/history keep
bash .ci/rows join parts >"$work/rows.log"
cp -r report "$work/beside"
check 'history is kept again' .ci/history keep
check 'history has both nights' test "$(nights | wc -l)" = 2
check 'history is one commit' test "$(git -C "$work/remote" rev-list --count perf-history)" = 1
check 'history is one file' test "$(git -C "$work/remote" ls-tree -r --name-only perf-history)" = history.sqlite.gz
cp "$work"/beside/history.* report/
echo 'another night' >>report/history.sqlite
refused() { ! "$@"; }
check 'history refuses what began before another night was kept' refused .ci/history keep
rm report/history.sqlite
check 'history refuses to keep nothing' refused .ci/history keep
check 'history still has both nights' test "$(nights | wc -l)" = 2
git remote set-url origin "$work/none"
code=0
bash .ci/rows join parts >"$work/rows.log" 2>&1 || code=$?
git remote set-url origin "$work/remote"
check 'rows fails where the history cannot be read' test $code = 1
check 'rows has its report all the same' grep -q '^called: report report/rows.json --out report$' "$work/rows.log"

# bless: the patch and the words.
ROWS='' bash .ci/bless >"$work/bless.log"
check 'bless hands over its reason whole' grep -q '^called: bless --why faster "now"$' report/bless.txt
check 'bless leaves a patch of the baselines' grep -q '^+++ b/baselines/host/softmax.csv' report/baselines.patch
git checkout --quiet -- baselines
sed -i 's/^if.*//' build/host/perf/kernelgrade
code=0
ROWS='' bash .ci/bless >"$work/bless.log" 2>&1 || code=$?
check 'bless without a change fails' test $code = 1

# refresh: no reason is given, so that `bless` refuses any figure that differs; and whether there is something to propose.
git checkout --quiet -- baselines
cp build/host/perf/kernelgrade build/host/perf/kernelgrade-cost
bash .ci/refresh >"$work/refresh.log"
check 'refresh blesses resources and costs without a reason' \
  test "$(grep '^called: ' "$work/refresh.log" | tr '\n' ';')" = 'called: resources --bless;called: bless --cost;'
check 'refresh leaves an empty patch where nothing was stale' test -e report/baselines.patch -a ! -s report/baselines.patch
echo 'echo >>baselines/simt/sources/counted.csv' >>build/host/perf/kernelgrade-cost
sed -i '/^exit/d' build/host/perf/kernelgrade-cost
bash .ci/refresh >"$work/refresh.log"
check 'refresh leaves a patch of the baselines' grep -q '^+++ b/baselines/simt/sources/counted.csv' report/baselines.patch
git checkout --quiet -- baselines
code=0
FAKE_EXIT=1 bash .ci/refresh >"$work/refresh.log" || code=$?
check 'refresh fails where a figure differs' test $code = 1

# propose: a branch, a commit, a pull request.
printf 'why it is so\n' >report/summary.md
sed -i '2s/[0-9.]\+/1.5/' baselines/host/softmax.csv
git diff --binary -- baselines >report/baselines.patch
git checkout --quiet -- baselines
bash .ci/propose >"$work/propose.log"
check 'propose pushes a branch' git -C "$work/remote" rev-parse --verify --quiet baselines-7
check 'propose commits the reason' test "$(git -C "$work/remote" log -1 --format=%s baselines-7)" = "Baselines: $WHY"
check 'propose changes the baseline only' test "$(git diff --name-only main baselines-7)" = baselines/host/softmax.csv
check 'propose opens a pull request' grep -q '^pr create --head baselines-7 --title Baselines: faster "now" --body-file' "$GH_LOG"
git switch --quiet main
printf '# harmless\n' >>.ci/steps.sh
git diff >report/baselines.patch
git checkout --quiet -- .ci
code=0
RUN=8 bash .ci/propose >"$work/propose.log" 2>&1 || code=$?
check 'propose refuses a patch of anything else' test $code = 1

git switch --quiet main
git branch --quiet -D baselines-8
# A file that would be overwritten from elsewhere: a patch says that it is renamed, and `git apply --numstat` names the new place alone.
echo 'the test of something' >guarded
git add guarded
git commit --quiet --message 'a guarded file'
propose_refuses() { # WHAT: what stands in the index
  git diff --cached --binary -M >report/baselines.patch
  git reset --quiet --hard
  local code=0
  RUN=$((RUN + 1)) bash .ci/propose >"$work/propose.log" 2>&1 || code=$?
  check "propose refuses $1" test "$code" = 1
  check "propose pushes nothing of $1" refused git -C "$work/remote" rev-parse --verify --quiet "baselines-$((RUN + 1))"
  git switch --quiet main
  git branch --quiet -D "baselines-$((RUN + 1))"
}
git mv guarded baselines/guarded
propose_refuses 'a file moved into the baselines'
git mv baselines/host/softmax.csv softmax.csv
propose_refuses 'a baseline moved out'
ln -s ../guarded baselines/link
git add baselines/link
propose_refuses 'a link'
chmod +x baselines/host/softmax.csv
git add baselines/host/softmax.csv
propose_refuses 'a program'
mkdir -p baselines/../.github
echo x >.github/x
git add .github/x
propose_refuses 'a workflow'

# comment: made of numbers and known words, whatever the report of the run says; replaced where it is the bot's own.
link='[The run, with its whole reports](https://github.com/o/r/actions/runs/7), of commit abc'
cat >"$work/report.json" <<'TEXT'
{"schema": 1, "exit_code": 1, "verdicts": {"pass": 3, "regressed": 1}, "faults": [],
 "rows": [{"case": "softmax.f32.r64_c64", "variant": "online", "mode": "real", "verdict": "regressed", "ratio": 0.51234, "exit_code": 1,
           "reason": "REASON @everyone"},
          {"case": "softmax.f32.r64_c64", "variant": "naive", "mode": "real", "verdict": "pass", "ratio": 1, "exit_code": 0}],
 "counted": [{"table": "cost", "name": "costs", "verdicts": {"pass": 9}, "faults": []}],
 "correctness": [{"op": "softmax", "dtype": "f32", "passed": 30, "failed": [{"test": "T", "message": "MESSAGE"}], "skipped": []}]}
TEXT
changed() { jq "$1" "$work/report.json" >"$work/changed.json"; echo "$work/changed.json"; }
comment() { FAKE_PULL=12 FAKE_REPORT=$1 bash .ci/comment >"$work/comment.log" 2>&1; }
FAKE_JOBS='{"jobs": [{"name": "cpu (debian-12)\n## passed", "conclusion": "failure"}, {"name": "gpu", "conclusion": null}]}' comment "$work/report.json"
check 'comment is made' grep -q 'POST repos/o/r/issues/12/comments' "$GH_LOG"
cat >"$work/expected.md" <<TEXT
<!-- kernelgrade: summary -->
$link

| job | ended |
|---|---|
| cpu (debian-12)??? passed | failure |
| gpu | did not end |

What follows the pull request says of itself: its own code made these figures.

### report-host

**FAILED**, exit code 1

- timings: 3 pass, 1 regressed
- cost costs: 9 pass, 0 faults
- correctness: 30 passed, 1 failed, 0 skipped
- faults: 0

| row | verdict | ratio |
|---|---|---|
| \`softmax.f32.r64_c64 online real\` | regressed | 0.512 |

| tests | failed | passed |
|---|---|---|
| \`softmax.f32\` | 1 | 30 |


TEXT
check 'comment says what the report counts, and no text of it' diff "$work/expected.md" "$GH_BODY"
# What a fork may write into its report: none of it reaches the comment, and the report is called unfit.
forged='@everyone <!-- x --> [merged](http://x) \u001b[32m'
for change in ".rows[0].case = \"$forged\"" ".rows[0].variant = \"$forged\"" ".rows[0].mode = \"$forged\"" ".rows[0].verdict = \"$forged\"" \
  ".rows[0].ratio = \"$forged\"" ".rows[0].exit_code = \"$forged\"" ".exit_code = \"$forged\"" ".exit_code = 3" ".verdicts[\"$forged\"] = 1" \
  ".verdicts.pass = \"$forged\"" ".verdicts.pass = -1" ".verdicts.pass = 1.5" ".counted[0].name = \"$forged\"" ".counted[0].table = \"$forged\"" \
  ".correctness[0].op = \"$forged\"" ".correctness[0].passed = \"$forged\"" ".rows = \"$forged\"" '.rows[0].case = "a\n## passed"' '.exit_code = [0]' \
  'del(.exit_code)' '[.]' '"passed"'; do
  comment "$(changed "$change")"
  check "comment: unfit after $change" grep -q 'this report is not one that can be shown' "$GH_BODY"
  check "comment: nothing of $change" refused grep -qE 'everyone|merged|## passed' "$GH_BODY"
done
printf 'no JSON' >"$work/changed.json"
comment "$work/changed.json"
check 'comment: no JSON' grep -q 'this report is not one that can be shown' "$GH_BODY"
ln -sf /etc/passwd "$work/link.json"
comment "$work/link.json"
check 'comment: a link' grep -q 'this report is not one that can be shown' "$GH_BODY"
# shellcheck disable=SC2016 # jq's variables
comment "$(changed '.rows = [range(3000) as $i | .rows[0]] | .correctness = [range(500) as $i | .correctness[0]]')"
check 'comment names the first rows alone' test "$(grep -c 'online real' "$GH_BODY")" = 20
check 'comment counts the others' grep -q '^2980 more rows are' "$GH_BODY"
# shellcheck disable=SC2016
comment "$(changed '.counted = [range(2000) as $i | .counted[0]]')"
check 'comment fits' test "$(wc -c <"$GH_BODY")" -le 60000
check 'comment says that it is cut' grep -q 'The rest is in the report of the run' "$GH_BODY"
check 'a cut comment links the run' grep -qF "$link" "$GH_BODY"
own='{"id": 99, "user": {"login": "github-actions[bot]"}, "body": "<!-- kernelgrade: summary -->\nold"}'
other='{"id": 98, "user": {"login": "somebody"}, "body": "<!-- kernelgrade: summary -->\nmine"}'
: >"$GH_LOG"
FAKE_COMMENTS="[$other]" comment "$work/report.json"
check "comment leaves another's alone, though it bears the mark" grep -q 'POST repos/o/r/issues/12/comments' "$GH_LOG"
FAKE_COMMENTS="[$other, $own]" comment "$work/report.json"
check 'comment is replaced' grep -q 'PATCH repos/o/r/issues/comments/99' "$GH_LOG"
FAKE_PULL=12 bash .ci/comment >"$work/comment.log" 2>&1
check 'comment says that there is no report' grep -q 'left no report' "$GH_BODY"
: >"$GH_LOG"
bash .ci/comment >"$work/comment.log"
check 'without a pull request nothing is written' test -z "$(grep -E 'POST|PATCH' "$GH_LOG" || true)"
check 'comment refuses a commit that is none' refused env HEAD='" or true' bash .ci/comment
# What the real command writes is fit.
cat >"$work/correctness.json" <<'TEXT'
{"program": "OP_test", "testsuites": [{"name": "T/f32", "testsuite": [{"name": "A", "status": "RUN", "result": "COMPLETED", "time": "0s"}]}]}
TEXT
op=$("$kernelgrade" list | sed -nE 's/^([a-z_0-9]+)\.f32\..*/\1/p' | sed -n 1p)
sed -i "s/OP/$op/" "$work/correctness.json"
"$kernelgrade" report "$work/correctness.json" --op "$op" --dtype f32 --out "$work/real" >"$work/real.log" 2>&1 || true
comment "$work/real/report.json"
check 'comment shows a report of the real command' grep -q '^- correctness: 1 passed' "$GH_BODY"

# gate: the script of the job, which stands at the end of ci.yml, for results of cpu, workflows and gpu; whether a GPU is switched on,
# whether a fork asks, and by night the result of compilers.
gate_script=$(sed -n '/^  gate:/,$p' "$source_dir/.github/workflows/ci.yml" | sed '1,/run: |/d')
gate() {
  CPU=$1 WORKFLOWS=$2 GPU=$3 GPU_ON=$4 FORK=$5 COMPILERS=${6-skipped} NIGHT=$( (($# > 5)) && echo true || echo false) GITHUB_STEP_SUMMARY=$work/gate.md bash -e -c "$gate_script"
}
gate_stops() { ! gate "$@"; }
check 'gate has a script' grep -q NOT <<<"$gate_script"
check 'gate: all succeed' gate success success success true false
check 'gate: no GPU is switched on' gate success success skipped false false
check 'gate says that the GPU did not run' grep -q 'gpu: NOT RUN' "$work/gate.md"
check 'gate: a fork gets no GPU' gate success success skipped true true
for result in failure cancelled skipped ''; do
  check "gate stops where cpu is '$result'" gate_stops "$result" success success true false
  check "gate stops where workflows is '$result'" gate_stops success "$result" success true false
  check "gate stops where gpu is '$result', though switched on" gate_stops success success "$result" true false
done
check 'gate: by night compilers succeed' gate success success skipped false false success
for result in failure cancelled skipped ''; do
  check "gate stops by night where compilers is '$result'" gate_stops success success skipped false false "$result"
done
check 'gate stops where a GPU ran that is switched off' gate_stops success success failure false false

# What the real command takes: an option that these scripts use must exist.
for option in --base --json; do check "kernelgrade ab has $option" grep -q -e "$option" <("$kernelgrade" ab --help); done
for option in --out --keep --history; do check "kernelgrade report has $option" grep -q -e "$option" <("$kernelgrade" report --help); done
for option in --db --keep; do check "kernelgrade history has $option" grep -q -e "$option" <("$kernelgrade" history --help); done
check 'kernelgrade bless has --why' grep -q -e '--why' <("$kernelgrade" bless --help)
exit $failed
