// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/annotations.h"

#include "perf/format/sinks.h"
#include "perf/report/failures.h"

#include <fmt/format.h>

namespace kg::report {
std::string annotations(const judge::GateResult& result, const CountedSections& counted,
                        const Attachments& attachments) {
  std::string text;
  std::size_t shown = 0;
  for (const Failure& failure : failures(result, counted, attachments)) {
    if (failure.place.file.empty() || shown == kMostAnnotations) continue;
    ++shown;
    const std::string title = fmt::format("{} {}", failure.what, failure.verdict);
    const std::string message =
        failure.why + (failure.again.empty() ? "" : "\nagain: " + failure.again);
    text += fmt::format("::error file={},line={},title={}::{}\n",
                        judge::for_annotation(failure.place.file, true), failure.place.line,
                        judge::for_annotation(title, true), judge::for_annotation(message, false));
  }
  return text;
}

} // namespace kg::report
