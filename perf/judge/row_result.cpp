// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/row_result.h"

#include <fmt/format.h>

namespace kg::judge {

RowResult result_for(const Registered& row) {
  RowResult result;
  result.op = row.op;
  result.dtype = row.dtype;
  result.key = row.key;
  result.category = row.category;
  result.kind = row.kind;
  result.informs = row.kind == Kind::vendor;
  return result;
}

RowResult result_for(const Measured& row) {
  return result_for(Registered{row.op, row.dtype, row.key, row.category, row.kind, true});
}

void conclude(RowResult& row, Verdict verdict, Cause cause) {
  row.verdict = verdict;
  row.cause = cause;
  row.exit_code = usual_exit(verdict);
  row.grade.reset();
  if (row.ratio && row.exit_code != kExitSkip) row.grade = grade(*row.ratio);
}

std::string grade_text(Grade shown, Interval ratio_interval) {
  const Grade worst = grade(ratio_interval.low), best = grade(ratio_interval.high);
  if (worst == best) return std::string(name(shown));
  return fmt::format("{}..{}", name(worst), name(best));
}

} // namespace kg::judge
