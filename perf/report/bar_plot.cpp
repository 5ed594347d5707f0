// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/bar_plot.h"

#include "perf/format/sinks.h"
#include "perf/report/plot_colours.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace kg::report {
namespace {

constexpr double kBarPlotWidth = 760, kNamesWidth = 150, kValuesWidth = 120, kLine = 16, kGap = 8;

} // namespace

std::string bar_plot(const std::string& title, const std::vector<BarGroup>& groups) {
  double least = std::numeric_limits<double>::max(), greatest = 0, height = kGap;
  std::map<std::string, const char*> colours;
  for (const BarGroup& group : groups) {
    height += kLine * static_cast<double>(group.bars.size() + 1) + kGap;
    for (const Bar& bar : group.bars) {
      colours.try_emplace(bar.name, kPlotColours[colours.size() % kPlotColours.size()]);
      if (bar.value <= 0) continue;
      least = std::min(least, bar.value);
      greatest = std::max(greatest, bar.value);
    }
  }
  const double low = std::log10(least / 3), span = std::max(std::log10(greatest) - low, 1e-9);
  const auto text = [](double x, double y, const char* anchor, const std::string& words) {
    return fmt::format(
        "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
        anchor, judge::for_xml(words));
  };
  std::string svg = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                                "role=\"img\" aria-label=\"{2}\"><title>{2}</title>\n",
                                kBarPlotWidth, height, judge::for_xml(title));
  double y = kGap;
  for (const BarGroup& group : groups) {
    svg += text(0, y + kLine - 4, "start", group.title);
    y += kLine;
    for (const Bar& bar : group.bars) {
      const double length = bar.value > 0 ? (std::log10(bar.value) - low) / span *
                                                (kBarPlotWidth - kNamesWidth - kValuesWidth)
                                          : 0;
      svg += text(kNamesWidth - 6, y + kLine - 4, "end", bar.name);
      svg += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" "
                         "fill=\"var(--{})\"/>\n",
                         kNamesWidth, y + 2, length, kLine - 4, colours.at(bar.name));
      svg += text(kNamesWidth + length + 6, y + kLine - 4, "start", bar.words);
      y += kLine;
    }
    y += kGap;
  }
  return svg + "</svg>\n";
}

} // namespace kg::report
