// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_page.h"

#include "perf/judge/atomic_file.h"
#include "perf/judge/sinks.h"
#include "perf/report/page_parts.h"
#include "perf/report/study_plot.h"
#include "perf/report/study_sections.h"
#include "perf/study/analysis.h"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace kg::report {
namespace {

std::string html_of(const judge::TextTable& table) {
  std::string text = "<div class=\"scroll\"><table>\n";
  const char* cell = "th"; // of the first line
  for (const std::vector<std::string>& line : table.lines()) {
    text += "<tr>";
    for (const std::string& words : line)
      text += fmt::format("<{0}>{1}</{0}>", cell, judge::for_xml(words));
    text += "</tr>\n";
    cell = "td";
  }
  return text + "</table></div>\n";
}

std::string html_of(const Section& section) {
  std::string text = fmt::format("<h2>{}</h2>\n", judge::for_xml(section.title));
  for (const std::string& line : section.lines)
    text += fmt::format("<p>{}</p>\n", judge::for_xml(line));
  return section.table ? text + html_of(*section.table) : text;
}

// One for each group.
std::string plots(const study::Study& study, const study::Record& record) {
  std::map<std::string, std::vector<study::Curve>> groups;
  for (study::Curve& curve : study::curves(record)) groups[curve.group].push_back(std::move(curve));
  std::string text;
  for (const auto& [group, curves] : groups) {
    const std::string title = "Time against size" + (group.empty() ? std::string() : ": " + group);
    text +=
        fmt::format("<h2>{}</h2>\n{}", judge::for_xml(title), time_plot(title, study.axis, curves));
  }
  return text;
}

} // namespace

std::string study_html(const study::Study& study, const study::Record& record) {
  std::vector<Section> sections = study_sections(study, record);
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "name=\"color-scheme\" content=\"light dark\">\n<title>Kernelgrade study {}</title>\n<link "
      "rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n<body>\n<header>\n"
      "<h1>Kernelgrade</h1>\n</header>\n<main>\n",
      judge::for_xml(study.name), page::style);
  text += html_of(sections.front()) + plots(study, record);
  for (std::size_t i = 1; i < sections.size(); ++i) text += html_of(sections[i]);
  return text + "</main>\n</body>\n</html>\n";
}

std::filesystem::path write_study(const std::filesystem::path& folder,
                                  const std::filesystem::path& record_file,
                                  const study::Study& study, const study::Record& record) {
  const std::filesystem::path name = folder / record_file.stem();
  judge::write_file(name.string() + ".md", markdown(study_sections(study, record)));
  const std::filesystem::path page = name.string() + ".html";
  judge::write_file(page, study_html(study, record));
  return page;
}

} // namespace kg::report
