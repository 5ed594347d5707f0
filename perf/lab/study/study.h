// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study: one operation at several problems, solved by every variant, as a table of what varies
// and what must hold. The engine (engine.h) and the report need nothing else, so another study is
// another entry in studies.cpp.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::study {

// An option of a study on the command line: --<name> VALUE.
struct Setting {
  std::string name;
  std::string usual; // its default value
  std::string text;
};
using Settings = std::map<std::string, std::string>; // a value for each setting of a study

// A problem that every variant solves.
struct Point {
  std::string case_id;     // "gemm.f32.m512_n512_k512_nn"
  std::string label;       // its name in tables
  std::string group = {};  // the points of one group lie on one curve over their size
  double size = 0;         // in the unit of Study::axis
  std::string result = {}; // the shape of the result, if not obvious

  friend bool operator==(const Point&, const Point&) = default;
};

inline constexpr double kShareOfTheory = 0.05; // tolerance of an exponent where the work dominates

// Once the work dominates, time grows as size^exponent.
struct Scaling {
  double exponent = 1;
  double tolerance = 0; // a fitted exponent farther off fails the study; 0: informational
  // Fails only if the entire 95 % interval is farther off: for few sizes so close together that
  // noise moves the exponent.
  bool by_interval = false;
};

struct Study {
  std::string name; // as on the command line
  std::string text; // the question it answers, for --help and headings
  std::string axis; // what a point's size counts: "elements"
  std::vector<Setting> settings;
  std::optional<Scaling> scaling; // none: times are not analysed as a function of size
  // In the order of the table. Throws Error naming a setting with an invalid value.
  std::vector<Point> (*points)(const Settings& settings);
  std::map<std::string, Scaling> group_scaling = {}; // of these groups instead of `scaling`
  std::string items = {}; // unit of a point's size for a rate per second: "images"

  // There must be a scaling.
  const Scaling& scaling_of(const std::string& group) const {
    const auto found = group_scaling.find(group);
    return found == group_scaling.end() ? scaling.value() : found->second;
  }
};

std::span<const Study> studies();

// Throws Error listing all studies if the name is unknown.
const Study& named(std::string_view name);

// The given settings, with defaults for all others.
Settings completed(const Study& study, const Settings& given);

} // namespace kg::study
