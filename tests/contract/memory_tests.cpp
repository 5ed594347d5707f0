// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/memory_tests.h"

#include <algorithm>
#include <set>

namespace kg::card {
namespace {

// The length of rows that may have gaps: the first output's, or the first input's if that output
// has one number per row.
std::int64_t length_of_rows(const Problem& problem) {
  const Tensor& output = problem.outputs[0];
  return (output.extents.size() > 1 ? output : problem.inputs[0]).extents.back();
}

// All tensors at the same offset, for each offset between aligned addresses; all at different
// offsets; all but one aligned; all but one misaligned; and, where rows may have gaps, gaps that
// keep the alignment and gaps that do not.
std::vector<Layout> layouts(const Problem& problem) {
  std::vector<std::string> names;
  for (const auto* tensors : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : *tensors)
      if (tensors == &problem.inputs || !problem.updates(tensor.name)) names.push_back(tensor.name);
  std::vector<Layout> result;
  const auto all = [&](std::int64_t offset, std::int64_t gap) {
    Layout layout;
    for (const std::string& name : names) layout[name] = {offset, gap};
    return layout;
  };
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  for (std::int64_t k = 1; k < pack; ++k) result.push_back(all(k, 0));
  for (const std::int64_t k : std::set<std::int64_t>{1, 3, pack / 2, pack - 1})
    for (const std::string& name : names) {
      result.push_back(all(k, 0));
      result.back()[name].offset = k + 1;
      result.push_back(all(k, 0));
      result.back()[name].offset = 0;
    }
  // Aligned to half a pack, a quarter etc.: a kernel may check one tensor's alignment too weakly.
  for (std::int64_t k = 1; k < pack; k *= 2)
    for (const std::string& name : names) {
      result.push_back(all(0, 0));
      result.back()[name].offset = k;
    }
  std::int64_t step = 1;
  Layout packs_apart, steps;
  for (const std::string& name : names) {
    packs_apart[name].offset = 1 + (step - 1) * pack;
    steps[name].offset = step - 1;
    ++step;
  }
  result.push_back(packs_apart);
  result.push_back(steps);
  if (!problem.gaps) return result;
  const std::int64_t cols = length_of_rows(problem);
  const std::int64_t to_pack = (pack - cols % pack) % pack;
  for (const std::int64_t offset : {0, 1}) {
    for (const std::int64_t gap : {to_pack, to_pack + pack, to_pack + 1, std::int64_t{1}})
      result.push_back(all(offset, gap));
    for (const std::string& name : names) {
      result.push_back(all(offset, to_pack));
      result.back()[name].gap = to_pack + 2;
    }
  }
  return result;
}

// Every way to put outputs in the memory of inputs, by output name; no input is used twice.
std::vector<std::map<std::string, std::string>> ways_in_place(const Problem& problem) {
  std::vector<std::map<std::string, std::string>> ways = {{}};
  for (const Tensor& output : problem.outputs)
    for (std::size_t i = ways.size(); i-- > 0;)
      for (const std::string& input : output.may_be) {
        auto way = ways[i];
        if (std::any_of(way.begin(), way.end(), [&](const auto& e) { return e.second == input; }))
          continue;
        way[output.name] = input;
        ways.push_back(std::move(way));
      }
  ways.erase(ways.begin());
  return ways;
}

// An operation with one output that may share memory with any input: all tensors are one array.
void all_in_one_place(Judge& judge, const Problem& problem) {
  if (problem.outputs.size() > 1 || problem.inputs.size() < 2 ||
      problem.outputs[0].may_be.size() < problem.inputs.size())
    return;
  const Tensor& first = problem.inputs[0];
  Inputs same = completed(problem, {});
  for (const Tensor& input : problem.inputs) same[input.name] = same.at(first.name);
  for (const Variant& variant : judge.card().variants) {
    if (!variant.tries(problem)) continue;
    const DeviceTensor only(first, {}, same.at(first.name), judge.stream());
    Call call(problem);
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
      for (const Tensor& tensor : *tensors) call.bind(tensor.name, only.data());
    variant.run(call, judge.stream());
    EXPECT_EQ(only.read(judge.stream()).bits,
              judge.run(variant, problem, same).bits(problem.outputs[0].name))
        << variant.name << ": all tensors in one place have other results than apart";
  }
}

} // namespace

void misaligned(Judge& judge) {
  for (const std::string& shape : judge.card().misaligned(judge.dtype())) {
    Sample sample = judge.random(shape);
    const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
    EXPECT_TRUE(!problem.gaps || judge.card().pitches)
        << shape << " may have rows apart; the descriptor has no `pitches`";
    sample.inputs = completed(problem, std::move(sample.inputs));
    judge.check_at(layouts(problem), sample, judge.card().references(problem, sample.inputs));
  }
}

void in_place(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  for (const auto& way : ways_in_place(problem))
    for (const std::int64_t shift : {0, 1}) {
      Layout layout;
      std::string where;
      for (const auto& [output, input] : way) {
        layout[output] = layout[input] = {shift, 0};
        where += (where.empty() ? "" : ", ") + output + " in the memory of " + input;
      }
      for (const Variant& variant : judge.card().variants) {
        if (!variant.tries(problem)) continue;
        const Outcome apart = judge.run(variant, problem, inputs, layout);
        const Outcome shared = execute(variant.run, problem, inputs, judge.stream(), layout, way);
        EXPECT_TRUE(shared.faults.empty()) << shared.faults[0];
        for (const Tensor& output : problem.outputs)
          EXPECT_TRUE(shared.bits(output.name) == apart.bits(output.name))
              << variant.name << ": " << where << " has other results in " << output.name
              << " than apart, " << shift << " elements from an aligned address";
      }
    }
  all_in_one_place(judge, problem);
}

} // namespace kg::card
