// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/subnormal_tests.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace kg::card {
namespace {

// Random numbers of which all, but for the outermost of a normal distribution, are subnormal, with
// what is left of the significand: of f32 some 20 bits, of f16 7, of bf16 4.
test::Observed below_the_normal_range(test::Observed input) {
  const int exponent = test::float_format(input.dtype).min_exponent - 3;
  input.bits.clear();
  for (double& value : input.values)
    value = test::round_to(input.dtype, std::ldexp(value, exponent));
  return input;
}

// Which inputs are small at a time: each alone, as a factor that is; all but one, as what is added
// to products of that one; and all.
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

constexpr std::size_t kChoicesOfEachShape = 6; // three inputs: each alone, and each two

// A flush loses all of a number. Of one of 2^-129, as they are here in f32, gradual underflow loses
// at most 2^-150 by each rounding, 2^-21 of it, which the bounds of normal numbers leave out: 2^-8
// of the largest result are thousands of those, and a small part of what a flush would change. Of
// products of small numbers hardly a bit may be left: a thousand times the smallest number of f32.
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

// Of which inputs are small, each shape takes all of them, and of the others its share: an
// operation of many inputs has so many choices that not every shape can take every one.
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
      sample.may_be_vacuous = true; // results may be all zeros, or depend on nothing that is small
      judge.check_against(sample, with_underflow(judge.card().references(problem, sample.inputs)));
    }
  }
}

} // namespace kg::card
