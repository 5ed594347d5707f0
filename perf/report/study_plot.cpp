// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/study_plot.h"

#include "perf/format/sinks.h"
#include "perf/format/units.h"
#include "perf/report/plot_colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kg::report {
namespace {

using study::Curve;
using study::Timed;

constexpr double kWidth = 760, kHeight = 400, kLeft = 78, kRight = 130, kTop = 12, kBottom = 44;

// A logarithmic axis that maps values to coordinates.
class Axis {
 public:
  Axis(double low, double high, double from, double to) : from_(from), to_(to) {
    const double room = std::max(0.04 * std::log10(high / low), 0.05);
    low_ = std::log10(low) - room;
    high_ = std::log10(high) + room;
  }
  double operator()(double value) const {
    return from_ + (std::log10(value) - low_) / (high_ - low_) * (to_ - from_);
  }
  // Powers of ten, or 1, 2 and 5 times each if there are few.
  std::vector<double> ticks() const {
    std::vector<double> found;
    for (int power = static_cast<int>(std::floor(low_)); power <= std::ceil(high_); ++power)
      for (const double part : {1.0, 2.0, 5.0}) {
        const double at = std::log10(part) + power;
        if (at < low_ || at > high_ || (part > 1 && high_ - low_ > 3)) continue;
        found.push_back(part * std::pow(10.0, power));
      }
    return found;
  }

 private:
  double from_, to_;
  double low_ = 0, high_ = 0; // logarithms
};

struct Ranges {
  double x_low = std::numeric_limits<double>::max(), x_high = 0;
  double y_low = std::numeric_limits<double>::max(), y_high = 0;
};

Ranges ranges_of(const std::vector<Curve>& curves) {
  Ranges r;
  for (const Curve& curve : curves)
    for (const Timed& time : curve.times) {
      r.x_low = std::min(r.x_low, time.size);
      r.x_high = std::max(r.x_high, time.size);
      r.y_low = std::min(r.y_low, time.ci_ns.low);
      r.y_high = std::max(r.y_high, time.ci_ns.high);
    }
  return r;
}

std::string label(double x, double y, const char* anchor, const std::string& words) {
  return fmt::format(
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
      anchor, judge::for_xml(words));
}

std::string frame(const Axis& x, const Axis& y, const std::string& axis) {
  std::string svg;
  for (const double value : x.ticks()) {
    svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {}V{}\"/>\n", x(value), kTop,
                       kHeight - kBottom);
    svg += label(x(value), kHeight - kBottom + 16, "middle", fmt::format("{:g}", value));
  }
  for (const double value : y.ticks()) {
    svg += fmt::format("<path class=\"axis\" d=\"M{} {:.1f}H{}\"/>\n", kLeft, y(value),
                       kWidth - kRight);
    svg += label(kLeft - 6, y(value) + 4, "end", judge::time_text(value));
  }
  return svg + label((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", axis);
}

std::string line(const Curve& curve, const Axis& x, const Axis& y, const char* colour,
                 double name_y) {
  std::string path, marks;
  for (const Timed& time : curve.times) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(time.size), y(time.ns));
    marks += fmt::format(
        "<path class=\"line\" stroke=\"var(--{0})\" d=\"M{1:.1f} {2:.1f}V{3:.1f}\"/>"
        "<circle cx=\"{1:.1f}\" cy=\"{4:.1f}\" r=\"3.5\" fill=\"var(--{0})\"><title>{5}: {6:g}, "
        "{7}</title></circle>\n",
        colour, x(time.size), y(time.ci_ns.low), y(time.ci_ns.high), y(time.ns),
        judge::for_xml(curve.variant), time.size, judge::time_text(time.ns));
  }
  return fmt::format("<path class=\"line\" stroke=\"var(--{0})\" d=\"{1}\"/>\n{2}"
                     "<text x=\"{3:.1f}\" y=\"{4:.1f}\" fill=\"var(--{0})\">{5}</text>\n",
                     colour, path, marks, kWidth - kRight + 8, name_y + 4,
                     judge::for_xml(curve.variant));
}

// Vertical positions of the curves' names at their right ends, uppermost first: in the order of the
// lines, without overlaps.
std::vector<double> name_places(const std::vector<Curve>& curves, const Axis& y) {
  constexpr double kLine = 15;
  std::vector<std::size_t> order(curves.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return curves[a].times.back().ns > curves[b].times.back().ns;
  });
  std::vector<double> places(curves.size());
  double next = kTop + kLine / 2;
  for (const std::size_t i : order) {
    places[i] = std::max(next, y(curves[i].times.back().ns));
    next = places[i] + kLine;
  }
  return places;
}

} // namespace

std::string time_plot(const std::string& title, const std::string& axis,
                      const std::vector<Curve>& curves) {
  const Ranges r = ranges_of(curves);
  const Axis x(r.x_low, r.x_high, kLeft, kWidth - kRight);
  const Axis y(r.y_low, r.y_high, kHeight - kBottom, kTop);
  const std::vector<double> places = name_places(curves, y);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                                "role=\"img\" aria-label=\"{2}\"><title>{2}</title>\n",
                                kWidth, kHeight, judge::for_xml(title));
  svg += frame(x, y, axis);
  for (std::size_t i = 0; i < curves.size(); ++i)
    svg += line(curves[i], x, y, kPlotColours[i % kPlotColours.size()], places[i]);
  return svg + "</svg>\n";
}

} // namespace kg::report
