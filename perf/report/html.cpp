// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/html.h"

#include "perf/report/page_parts.h"

#include <string_view>

namespace kg::report {
namespace {

// The page with `name` in '@' replaced, once.
std::string with(std::string page, std::string_view name, std::string_view text) {
  const std::string mark = "@" + std::string(name) + "@";
  return page.replace(page.find(mark), mark.size(), text);
}

// Inside a script element "</script>" would end it and "<!--" change how it is read; in JSON '<'
// stands in strings only, where it may be escaped.
std::string for_script(const std::string& json) {
  std::string result;
  for (const char c : json)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

} // namespace

// The report last: its text may hold anything.
std::string html(const std::string& report) {
  return with(with(with(page::html, "STYLE", page::style), "SCRIPTS", page::scripts), "REPORT",
              for_script(report));
}

} // namespace kg::report
