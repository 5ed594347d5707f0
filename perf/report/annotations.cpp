// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/annotations.h"

#include "perf/report/failures.h"

#include <fmt/format.h>
#include <string_view>

namespace kg::report {
namespace {

// What ends a command's line or, of a property, its value is written otherwise.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

} // namespace

std::string annotations(const judge::GateResult& result, const CountedSections& counted,
                        const Supplements& supplements) {
  std::string text;
  std::size_t shown = 0;
  for (const Failure& failure : failures(result, counted, supplements)) {
    if (failure.place.file.empty() || shown == kMostAnnotations) continue;
    ++shown;
    const std::string title = fmt::format("{} {}", failure.what, failure.verdict);
    const std::string message =
        failure.why + (failure.again.empty() ? "" : "\nagain: " + failure.again);
    text += fmt::format("::error file={},line={},title={}::{}\n", escaped(failure.place.file, true),
                        failure.place.line, escaped(title, true), escaped(message, false));
  }
  return text;
}

} // namespace kg::report
