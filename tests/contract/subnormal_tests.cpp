// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/subnormal_tests.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace kg::card {
namespace {

// Random numbers, all subnormal except the tails of the normal distribution. The significand keeps
// some 20 bits for f32, 7 for f16 and 4 for bf16.
test::Observed below_the_normal_range(test::Observed input) {
  const int exponent = test::float_format(input.dtype).min_exponent - 3;
  input.bits.clear();
  for (double& value : input.values)
    value = test::round_to(input.dtype, std::ldexp(value, exponent));
  return input;
}

// The sets of inputs to make small: each alone, for factors; all but one, for the addend of
// products of that input; and all.
std::vector<std::set<std::string>> choices(const Problem& problem) {
  std::set<std::string> all;
  for (const Tensor& input : problem.inputs)
    if (!is_integer(input.dtype) && input.size() > 0) all.insert(input.name);
  std::vector<std::set<std::string>> result = {all};
  for (const std::string& name : all) {
    if (all.size() > 1) result.push_back({name});
    std::set<std::string> others = all;
    others.erase(name);
    if (others.size() > 1) result.push_back(others);
  }
  return result;
}

constexpr std::size_t kChoicesOfEachShape = 6; // three inputs: each alone, and each pair

// A flush loses all of a number. Gradual underflow of a number of 2^-129, as here in f32, loses at
// most 2^-150 per rounding, 2^-21 of it, which bounds of normal numbers leave out. 2^-8 of the
// largest result is thousands of these, but a small part of a flush's error. Products of small
// numbers may lose nearly all bits: a thousand times the smallest f32 number.
References with_underflow(References references) {
  for (auto& [name, reference] : references) {
    if (!reference.tolerance) continue;
    double largest = 0;
    for (const double value : reference.value)
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    reference.tolerance = [bound = reference.tolerance,
                           lost = std::ldexp(largest, -8) + 0x1p-139](std::string_view variant) {
      std::vector<double> tolerances = bound(variant);
      for (double& each : tolerances) each += lost;
      return tolerances;
    };
  }
  return references;
}

} // namespace

// Each shape tests all inputs small, and its share of the other sets: an operation with many inputs
// has too many sets to test each with every shape.
void subnormal_numbers(Judge& judge) {
  const std::vector<std::string> shapes = judge.card().usual(judge.dtype());
  for (std::size_t turn = 0; turn < shapes.size(); ++turn) {
    const Sample usual = judge.random(shapes[turn]);
    const Problem problem = problem_of(judge.card(), judge.dtype(), usual);
    const Inputs numbers = completed(problem, usual.inputs);
    const std::vector<std::set<std::string>> small_inputs = choices(problem);
    const std::size_t others = small_inputs.size() - 1;
    const std::size_t step = others <= kChoicesOfEachShape ? 1 : shapes.size();
    for (std::size_t choice = 0; choice < small_inputs.size(); ++choice) {
      if (choice > 0 && (choice - 1) % step != turn % step) continue;
      const std::set<std::string>& small = small_inputs[choice];
      Sample sample = usual;
      sample.fill = "subnormal";
      for (const std::string& name : small) {
        sample.fill += " " + name;
        sample.inputs[name] = below_the_normal_range(numbers.at(name));
      }
      sample.inputs = completed(problem, std::move(sample.inputs));
      sample.may_be_vacuous = true; // results may be all zeros, or independent of the small inputs
      judge.check_against(sample, with_underflow(judge.card().references(problem, sample.inputs)));
    }
  }
}

} // namespace kg::card
