# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Formats a report.json as a part of a comment (.ci/comment). A pull request's code produces the report, but the bot posts the comment. So
# only numbers, known words, and words of harmless characters pass; no reasons, messages, or other text from the machine.

def known($words): if IN($words[]) then . else error("an unknown word") end;
def verdict: known(["pass", "improved", "regressed", "inconclusive", "invalid", "unblessed", "env", "skipped", "unchanged"]);
def mode: known(["cold", "hot", "graph", "real"]);
def id: if type == "string" and test("\\A[A-Za-z0-9_./-]{1,200}\\z") then . else error("a name with other characters") end;
def count: if type == "number" and . >= 0 and . < 1e9 and floor == . then . else error("a number that counts nothing") end;
def ratio: if . == null then "-" elif type == "number" and . >= 0 and . < 1e6 then . * 1000 | round / 1000 else error("an odd ratio") end;
def code: known([0, 1, 77]);

def counts: (. // {}) | to_entries | map("\(.value | count) \(.key | verdict)") | if . == [] then "no rows" else join(", ") end;
def outcome: {"0": "passed", "1": "FAILED", "77": "SKIPPED"}[code | tostring];
def more($most; $what): if length > $most then "\n\(length - $most) more \($what) are in the run's report.\n" else "" end;

def timings:
  [.rows // [] | .[] | select(.exit_code | code == 1)]
  | if . == [] then "" else
      "\n| row | verdict | ratio |\n|---|---|---|\n"
      + (.[:20] | map("| `\(.case | id) \(.variant | id) \(.mode | mode)` | \(.verdict | verdict) | \(.ratio | ratio) |\n") | add)
      + more(20; "rows")
    end;

def tests:
  [.correctness // [] | .[] | select(.failed | length > 0)]
  | if . == [] then "" else
      "\n| tests | failed | passed |\n|---|---|---|\n"
      + (.[:20] | map("| `\(.op | id).\(.dtype | id)` | \(.failed | length) | \(.passed | count) |\n") | add)
      + more(20; "types")
    end;

"**\(.exit_code | outcome)**, exit code \(.exit_code | code)\n\n- timings: \(.verdicts | counts)\n"
+ (.counted // [] | map("- \(.table | id) \(.name | id): \(.verdicts | counts), \(.faults | length) faults\n") | add // "")
+ (.correctness // [] | if . == [] then "" else
    "- correctness: \(map(.passed | count) | add) passed, \(map(.failed | length) | add) failed, \(map(.skipped | length) | add) skipped\n"
  end)
+ "- faults: \(.faults // [] | length)\n"
+ timings + tests
