// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/history/events.h"

#include "perf/format/sinks.h"
#include "perf/format/units.h"
#include "perf/lab/history/change_points.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kg::history {
namespace {

using judge::time_text;

std::string day(const Point& point) { return point.date_utc.substr(0, 10); }
std::string commit(const Point& point) { return point.source.substr(0, 12); }

const char* colour(Event::Kind kind) {
  switch (kind) {
  case Event::Kind::slower: return "#b3142b";
  case Event::Kind::faster: return "#0b57c0";
  case Event::Kind::baseline: return "#1a7f37";
  case Event::Kind::machine:
  case Event::Kind::driver: return "#a86500";
  case Event::Kind::code: return "#77808a";
  }
  return "";
}

} // namespace

std::string_view name(Event::Kind kind) {
  switch (kind) {
  case Event::Kind::slower: return "slower";
  case Event::Kind::faster: return "faster";
  case Event::Kind::baseline: return "baseline";
  case Event::Kind::machine: return "machine";
  case Event::Kind::driver: return "driver";
  case Event::Kind::code: return "code";
  }
  return "";
}

std::vector<Event> events(const std::vector<Point>& points) {
  std::vector<Event> found;
  std::vector<double> medians;
  for (const Point& point : points) medians.push_back(point.median_ns);
  for (const ChangePoint& change : change_points(medians)) {
    const bool slower = change.after > change.before;
    const double factor = slower ? change.after / change.before : change.before / change.after;
    found.push_back(
        {change.at, slower ? Event::Kind::slower : Event::Kind::faster,
         fmt::format("{:.3g}x {} from commit {} on ({}): {} -> {}", factor,
                     slower ? "SLOWER" : "faster", commit(points[change.at]),
                     day(points[change.at]), time_text(change.before), time_text(change.after))});
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point& before = points[i - 1];
    const Point& now = points[i];
    const auto add = [&](Event::Kind kind, const std::string& what) {
      found.push_back(
          {i, kind, fmt::format("{} with commit {} ({})", what, commit(now), day(now))});
    };
    if (before.baseline_ns != now.baseline_ns)
      add(Event::Kind::baseline,
          fmt::format("baseline {} -> {}",
                      before.baseline_ns > 0 ? time_text(before.baseline_ns) : "none",
                      now.baseline_ns > 0 ? time_text(now.baseline_ns) : "none"));
    if (before.machine != now.machine)
      add(Event::Kind::machine, fmt::format("machine {} -> {}", before.machine, now.machine));
    if (before.driver != now.driver)
      add(Event::Kind::driver, fmt::format("driver {} -> {}", before.driver, now.driver));
    if (before.identity != now.identity && !before.identity.empty() && !now.identity.empty())
      add(Event::Kind::code, "other machine code or launches");
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Event& a, const Event& b) { return a.at < b.at; });
  return found;
}

std::string plain_text(const Series& series, const std::vector<Point>& points) {
  std::string text =
      judge::for_console(fmt::format("{} {} {}, {}: {} runs", series.case_id, series.variant,
                                     series.mode, series.device, points.size()));
  if (points.empty()) return text + "\n";
  text += fmt::format(", {} to {}, now {}\n", day(points.front()), day(points.back()),
                      time_text(points.back().median_ns));
  for (const Event& event : events(points)) text += "  " + judge::for_console(event.text) + "\n";
  return text;
}

std::string svg(const Series& series, const std::vector<Point>& points) {
  constexpr double kWidth = 900, kHeight = 320, kLeft = 90, kTop = 34, kBottom = 30;
  double high = std::numeric_limits<double>::min();
  for (const Point& point : points) high = std::max({high, point.median_ns, point.baseline_ns});
  high *= 1.1;
  const double last = std::max<double>(1, static_cast<double>(points.size()) - 1);
  const auto x = [&](std::size_t i) {
    return kLeft + static_cast<double>(i) / last * (kWidth - kLeft - 10);
  };
  const auto y = [&](double ns) {
    return kHeight - kBottom - std::min(ns, high) / high * (kHeight - kTop - kBottom);
  };
  std::string band, back, line, baseline, marks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    band += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", x(i), y(point.ci_hi_ns));
    back = fmt::format("L{:.1f} {:.1f}", x(i), y(point.ci_lo_ns)) + back;
    line += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", x(i), y(point.median_ns));
    if (point.baseline_ns > 0)
      baseline += fmt::format("{}{:.1f} {:.1f}", i && points[i - 1].baseline_ns > 0 ? "L" : "M",
                              x(i), y(point.baseline_ns));
  }
  for (const Event& event : events(points))
    marks += fmt::format("<path d=\"M{0:.1f} {1}V{2}\" stroke=\"{3}\" stroke-dasharray=\"4 "
                         "3\"><title>{4}</title></path>\n",
                         x(event.at), kTop, kHeight - kBottom, colour(event.kind),
                         judge::for_xml(event.text));
  std::string scale;
  for (const double share : {0.0, 0.5, 1.0})
    scale += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6,
                         y(share * high) + 4, time_text(share * high));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"none\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n<g fill=\"#1a1d21\">\n"
      "<text x=\"{2}\" y=\"18\" font-size=\"14\">{3}</text>\n{4}"
      "<text x=\"{2}\" y=\"{5}\">{6}</text>\n"
      "<text x=\"{7}\" y=\"{5}\" text-anchor=\"end\">{8}</text>\n</g>\n"
      "<path d=\"{9}{10}Z\" fill=\"#0b57c0\" fill-opacity=\"0.2\"/>\n"
      "<path d=\"{11}\" stroke=\"#1a7f37\"/>\n<path d=\"{12}\" stroke=\"#0b57c0\" "
      "stroke-width=\"1.5\"/>\n{13}</svg>\n",
      kWidth, kHeight, kLeft,
      judge::for_xml(
          fmt::format("{} {} {}, {}", series.case_id, series.variant, series.mode, series.device)),
      scale, kHeight - 10, points.empty() ? "" : judge::for_xml(day(points.front())), kWidth - 10,
      points.empty() ? "" : judge::for_xml(day(points.back())), band, back, baseline, line, marks);
}

} // namespace kg::history
