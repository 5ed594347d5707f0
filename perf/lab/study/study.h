// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a study is: one operation at several problems, solved by every variant, as a table that
// says what varies and what must hold. The engine (engine.h) and the report need no more of it, so
// another study is another entry in studies.cpp.
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
  std::string usual; // its value where none is given
  std::string text;
};
using Settings = std::map<std::string, std::string>; // a value for each setting of a study

// A problem that every variant solves.
struct Point {
  std::string case_id;     // "gemm.f32.m512_n512_k512_nn"
  std::string label;       // as tables call it
  std::string group = {};  // the points of one group lie on one curve over their size
  double size = 0;         // what Study::axis names
  std::string result = {}; // the shape of the result, where it does not go without saying

  friend bool operator==(const Point&, const Point&) = default;
};

inline constexpr double kShareOfTheory = 0.05; // an exponent is within it where work alone counts

// Where the work alone counts, time grows as size^exponent.
struct Scaling {
  double exponent = 1;
  double tolerance = 0; // a fitted exponent farther off fails the study; 0: it informs
  // Only one whose whole 95 % interval is farther off does: of few sizes, so close to each other
  // that noise moves the exponent.
  bool by_interval = false;
};

struct Study {
  std::string name; // as on the command line
  std::string text; // what it asks, for --help and for headings
  std::string axis; // what the size of a point is: "elements"
  std::vector<Setting> settings;
  std::optional<Scaling> scaling; // none: times are not looked at as a function of size
  // In the order of the table. Throws Error naming the setting whose value is none.
  std::vector<Point> (*points)(const Settings& settings);
  std::map<std::string, Scaling> group_scaling = {}; // of these groups in place of `scaling`
  std::string items = {}; // what a point's size counts, per second of its time: "images"

  // There must be one.
  const Scaling& scaling_of(const std::string& group) const {
    const auto found = group_scaling.find(group);
    return found == group_scaling.end() ? scaling.value() : found->second;
  }
};

std::span<const Study> studies();

// Throws Error naming what there is where there is none of that name.
const Study& named(std::string_view name);

// The settings given, and of all others the usual value.
Settings completed(const Study& study, const Settings& given);

} // namespace kg::study
