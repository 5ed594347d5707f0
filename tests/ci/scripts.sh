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
    [[ -n ${FAKE_SUMMARY:-} ]] || exit 1
    folder=${*: -1}
    mkdir -p "$folder/report-host"
    printf '%s' "$FAKE_SUMMARY" >"$folder/report-host/summary.md"
    [[ -z ${FAKE_OTHER:-} ]] || { mkdir -p "$folder/report-other/report"; printf '%s' "$FAKE_OTHER" >"$folder/report-other/report/summary.md"; }
    ;;
  *PATCH* | *POST*) for word in "$@"; do [[ $word != body=@* ]] || cp "${word#body=@}" "$GH_BODY"; done ;;
  *issues/*/comments*) echo "${FAKE_COMMENT:-}" ;;
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
check 'ab writes a summary' test "$(sed -n '1p;3p;5p' report/summary.md | tr '\n' ';')" = \
  '## Beside main: exit code 1;### What failed;called: ab --base main --op softmax --fast --json report/ab.json;'

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
bash .ci/propose >"$work/propose.log" 2>&1 || code=$?
check 'propose refuses a patch of anything else' test $code = 1

# comment: made, replaced, cut, and left out where there is no pull request.
FAKE_PULL=12 FAKE_SUMMARY='all is well' bash .ci/comment >"$work/comment.log"
check 'comment is made' grep -q 'POST repos/o/r/issues/12/comments' "$GH_LOG"
check 'comment has the summary' grep -q 'all is well' "$GH_BODY"
link='[The run, with its whole reports](https://github.com/o/r/actions/runs/7), of commit abc'
check 'comment links the run' grep -qF "$link" "$GH_BODY"
# Each of the summaries (tests/measure/cli_summary_test.cpp) as a reader sees it.
for summary in "$source_dir"/tests/ci/summaries/{clean,regression,wrong_kernel,crash,missing_baseline}.md; do
  FAKE_PULL=12 FAKE_SUMMARY=$(cat "$summary") bash .ci/comment >"$work/comment.log"
  { printf '<!-- kernelgrade: summary -->\n%s\n\n### report-host\n\n' "$link"; cat "$summary"; printf '\n'; } >"$work/expected.md"
  check "comment: $(basename "$summary" .md)" cmp "$work/expected.md" "$GH_BODY"
done
FAKE_PULL=12 FAKE_SUMMARY='## Kernelgrade: passed' FAKE_OTHER='## Kernelgrade: FAILED' bash .ci/comment >"$work/comment.log"
check 'comment begins with what failed' test "$(grep '^###* ' "$GH_BODY" | tr '\n' ' ')" = \
  '### report-other ## Kernelgrade: FAILED ### report-host ## Kernelgrade: passed '
FAKE_PULL=12 FAKE_COMMENT=99 FAKE_SUMMARY=$(head -c 100000 /dev/zero | tr '\0' x) bash .ci/comment >"$work/comment.log"
check 'comment is replaced' grep -q 'PATCH repos/o/r/issues/comments/99' "$GH_LOG"
check 'comment fits' test "$(wc -c <"$GH_BODY")" -le 60000
FAKE_PULL=12 FAKE_COMMENT=99 FAKE_SUMMARY=$(printf '| row %d | ±1 %% |\n' {1..5000}) bash .ci/comment >"$work/comment.log"
check 'comment is cut where a line ends' grep -qE '^\| row [0-9]+ \| ±1 % \|$' <(grep '^| row' "$GH_BODY" | tail -n 1)
check 'comment says that it is cut' grep -q 'The rest is in the report of the run' "$GH_BODY"
check 'a cut comment links the run' grep -qF "$link" "$GH_BODY"
FAKE_PULL=12 FAKE_COMMENT=99 bash .ci/comment >"$work/comment.log" 2>&1
check 'comment says that there is no report' grep -q 'left no report' "$GH_BODY"
: >"$GH_LOG"
bash .ci/comment >"$work/comment.log"
check 'without a pull request nothing is written' test -z "$(grep -E 'POST|PATCH' "$GH_LOG" || true)"

# gate: the script of the job, which stands at the end of ci.yml, for results of cpu, workflows and gpu; whether a GPU is switched on,
# and whether a fork asks.
gate_script=$(sed -n '/^  gate:/,$p' "$source_dir/.github/workflows/ci.yml" | sed '1,/run: |/d')
gate() {
  CPU=$1 WORKFLOWS=$2 GPU=$3 GPU_ON=$4 FORK=$5 GITHUB_STEP_SUMMARY=$work/gate.md bash -e -c "$gate_script"
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
check 'gate stops where a GPU ran that is switched off' gate_stops success success failure false false

# What the real command takes: an option that these scripts use must exist.
for option in --base --json; do check "kernelgrade ab has $option" grep -q -e "$option" <("$kernelgrade" ab --help); done
for option in --out --keep --history; do check "kernelgrade report has $option" grep -q -e "$option" <("$kernelgrade" report --help); done
for option in --db --keep; do check "kernelgrade history has $option" grep -q -e "$option" <("$kernelgrade" history --help); done
check 'kernelgrade bless has --why' grep -q -e '--why' <("$kernelgrade" bless --help)
exit $failed
