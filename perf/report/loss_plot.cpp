// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/loss_plot.h"

#include "perf/format/sinks.h"
#include "perf/report/plot_colours.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kg::report {
namespace {

constexpr double kLossWidth = 760, kLossHeight = 320, kLossLeft = 60, kLossRight = 150;
constexpr double kLossTop = 12, kLossBottom = 44;

std::string loss_label(double x, double y, const char* anchor, const std::string& words) {
  return fmt::format(
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
      anchor, judge::for_xml(words));
}

// 1, 2 or 5 times a power of ten, for four to ten ticks in the span.
double tick_distance(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 4)));
  const double parts = span / 4 / power;
  return power * (parts >= 5 ? 5 : parts >= 2 ? 2 : 1);
}

// Maps steps and losses to coordinates.
struct Places {
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  std::size_t steps = 1;

  explicit Places(const std::vector<LossCurve>& curves) {
    for (const LossCurve& curve : curves) {
      steps = std::max(steps, curve.losses.size());
      for (const double loss : curve.losses) {
        if (!std::isfinite(loss)) continue;
        low = std::min(low, loss);
        high = std::max(high, loss);
      }
    }
    const double room = std::max(0.05 * (high - low), 1e-9);
    low -= room;
    high += room;
  }
  double x(std::size_t step) const {
    return kLossLeft + (kLossWidth - kLossLeft - kLossRight) * static_cast<double>(step) /
                           static_cast<double>(std::max<std::size_t>(steps - 1, 1));
  }
  double y(double loss) const {
    return kLossTop + (high - loss) / (high - low) * (kLossHeight - kLossTop - kLossBottom);
  }
};

std::string loss_frame(const Places& at) {
  std::string svg;
  for (std::size_t step = 0; step < at.steps; step += 1 + at.steps / 12)
    svg += loss_label(at.x(step), kLossHeight - kLossBottom + 16, "middle", std::to_string(step));
  const double distance = tick_distance(at.high - at.low);
  for (double loss = std::ceil(at.low / distance) * distance; loss <= at.high; loss += distance)
    svg += fmt::format("<path class=\"axis\" d=\"M{} {:.1f}H{}\"/>\n", kLossLeft, at.y(loss),
                       kLossWidth - kLossRight) +
           loss_label(kLossLeft - 6, at.y(loss) + 4, "end", fmt::format("{:.6g}", loss));
  return svg + loss_label((kLossLeft + kLossWidth - kLossRight) / 2, kLossHeight - 8, "middle",
                          "training steps done");
}

std::string loss_line(const LossCurve& curve, const Places& at, const char* colour, double width) {
  std::string path;
  bool pen_down = false;
  for (std::size_t step = 0; step < curve.losses.size(); ++step) {
    const bool finite = std::isfinite(curve.losses[step]);
    if (finite)
      path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", at.x(step),
                          at.y(curve.losses[step]));
    pen_down = finite;
  }
  return fmt::format("<path fill=\"none\" stroke=\"var(--{})\" stroke-width=\"{:.1f}\" "
                     "stroke-linejoin=\"round\" d=\"{}\"/>\n",
                     colour, width, path);
}

} // namespace

std::string loss_plot(const std::string& title, const std::vector<LossCurve>& curves) {
  const Places at(curves);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                                "role=\"img\" aria-label=\"{2}\"><title>{2}</title>\n",
                                kLossWidth, kLossHeight, judge::for_xml(title));
  svg += loss_frame(at);
  constexpr double kFinest = 1.5, kBroader = 3.5, kNameLine = 18;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const char* const colour = kPlotColours[i % kPlotColours.size()];
    const double width = kFinest + kBroader * static_cast<double>(curves.size() - 1 - i);
    const double y = kLossTop + kNameLine * (static_cast<double>(i) + 0.5);
    svg += loss_line(curves[i], at, colour, width);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"var(--{})\">{}</text>\n",
                       kLossWidth - kLossRight + 12, y + 4, colour, judge::for_xml(curves[i].name));
  }
  return svg + "</svg>\n";
}

} // namespace kg::report
