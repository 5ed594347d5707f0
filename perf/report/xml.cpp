// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/xml.h"

#include "perf/judge/csv.h"
#include "perf/judge/gate.h"

#include <fmt/format.h>

namespace kg::report {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '"': result += "&quot;"; break;
    case '\n': result += "&#10;"; break;
    default: result += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? ' ' : c;
    }
  }
  return result;
}

std::string property(std::string_view name, double value) {
  return property(name, judge::csv_number(value));
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
}

std::string outcome(int exit_code, std::string_view type, std::string_view message) {
  if (exit_code == judge::kExitFail)
    return fmt::format("   <failure type=\"{}\" message=\"{}\"/>\n", type, escaped(message));
  if (exit_code == judge::kExitSkip)
    return fmt::format("   <skipped message=\"{}\"/>\n", escaped(message));
  return "";
}

} // namespace kg::report
