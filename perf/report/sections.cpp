// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/sections.h"

#include "perf/format/sinks.h"
#include "perf/report/page_parts.h"

#include <fmt/format.h>

namespace kg::report {
namespace {

std::string html_of(const judge::TextTable& table) {
  std::string text = "<div class=\"scroll\"><table>\n";
  const char* cell = "th"; // the first line is the header
  for (const std::vector<std::string>& line : table.lines()) {
    text += "<tr>";
    for (const std::string& words : line)
      text += fmt::format("<{0}>{1}</{0}>", cell, judge::for_xml(words));
    text += "</tr>\n";
    cell = "td";
  }
  return text + "</table></div>\n";
}

} // namespace

std::string plain_text(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections) {
    text += (text.empty() ? "" : "\n") + judge::for_console(section.title) + "\n";
    for (const std::string& line : section.lines) text += "  " + judge::for_console(line) + "\n";
    if (section.table) text += section.table->plain();
  }
  return text;
}

std::string markdown(const std::vector<Section>& sections, int level) {
  const std::string first(static_cast<std::size_t>(level), '#');
  std::string text;
  for (const Section& section : sections) {
    text += (text.empty() ? first + " " : "\n" + first + "# ") +
            judge::for_markdown(section.title) + "\n\n";
    for (const std::string& line : section.lines) text += "- " + judge::for_markdown(line) + "\n";
    if (section.table) text += "\n" + section.table->markdown();
  }
  return text;
}

std::string html_of(const Section& section) {
  std::string text = fmt::format("<h2>{}</h2>\n", judge::for_xml(section.title));
  for (const std::string& line : section.lines) {
    const char* const element =
        line.find('\n') == std::string::npos ? "p" : "pre"; // preserves line breaks
    text += fmt::format("<{0}>{1}</{0}>\n", element, judge::for_xml(line));
  }
  return section.table ? text + html_of(*section.table) : text;
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<link "
      "rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n<body>\n<header>\n"
      "<h1>Kernelgrade</h1>\n</header>\n<main>\n{}</main>\n</body>\n</html>\n",
      judge::for_xml(title), page::style, body);
}

} // namespace kg::report
