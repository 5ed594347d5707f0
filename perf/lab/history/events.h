// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A row's history as text: changes of its baseline, of machine or driver, of machine code, and of
// its level.
#pragma once

#include "perf/lab/history/database.h"

#include <string>
#include <string_view>
#include <vector>

namespace kg::history {

struct Event {
  std::size_t at = 0; // index of the first point after it
  enum class Kind { slower, faster, baseline, machine, driver, code } kind = Kind::slower;
  std::string text;
};

std::string_view name(Event::Kind kind);

// In order of time.
std::vector<Event> events(const std::vector<Point>& points);

// A line per event, and a summary: "softmax.f32.r64_c64 warp real, nvidia-h200: 200 runs".
std::string plain_text(const Series& series, const std::vector<Point>& points);

// An SVG picture of the series: medians with their intervals, the baseline, the events.
std::string svg(const Series& series, const std::vector<Point>& points);

} // namespace kg::history
