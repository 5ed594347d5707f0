// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_page.h"

#include "perf/format/sinks.h"
#include "perf/lab/study/analysis.h"
#include "perf/report/study_plot.h"
#include "perf/report/study_sections.h"
#include "runtime/atomic_file.h"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace kg::report {
namespace {

// One plot per group.
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
  std::string body = html_of(sections.front()) + plots(study, record);
  for (std::size_t i = 1; i < sections.size(); ++i) body += html_of(sections[i]);
  return html_page("Kernelgrade study " + study.name, body);
}

std::filesystem::path write_study(const std::filesystem::path& folder,
                                  const std::filesystem::path& record_file,
                                  const study::Study& study, const study::Record& record) {
  const std::filesystem::path name = folder / record_file.stem();
  write_file(name.string() + ".md", markdown(study_sections(study, record)));
  const std::filesystem::path page = name.string() + ".html";
  write_file(page, study_html(study, record));
  return page;
}

} // namespace kg::report
