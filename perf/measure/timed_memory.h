// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tensors of a timed case on the device, and the parts of the problem whose results are
// verified.
#pragma once

#include "perf/measure/random_data.h"
#include "perf/measure/timed_input.h"
#include "runtime/memory.h"
#include "tests/contract/call.h"
#include "tests/contract/card.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::perf {

// A problem's tensors on the device.
class TimedMemory {
 public:
  explicit TimedMemory(const card::Problem& problem) : problem_(problem) {
    Stream stream;
    std::uint64_t number = 0;
    for (const card::Tensor& input : problem.inputs)
      inputs_.emplace(input.name, TimedInput(input, test::Tensor{++number}, stream));
    for (const auto* tensors : {&problem.outputs, &problem.kept})
      for (const card::Tensor& tensor : *tensors)
        outputs_.emplace(tensor.name,
                         DeviceBuffer<std::byte>(static_cast<std::size_t>(tensor.size()) *
                                                 size_of(tensor.dtype)));
    if (!problem.make) return;
    problem.make(call(), stream);
    for (auto& [name, input] : inputs_) input.read(stream);
  }

  card::Call call() const {
    card::Call result(problem_);
    for (const auto& [name, input] : inputs_) result.bind(name, input.data());
    for (const auto& [name, output] : outputs_) result.bind(name, output.data());
    return result;
  }

  // Poisons the outputs. An output that is updated in place is reset to its input instead.
  void poison(Stream& stream) {
    for (const card::Tensor& output : problem_.outputs) {
      DeviceBuffer<std::byte>& memory = outputs_.at(output.name);
      if (problem_.updates(output.name))
        copy_on_device(memory.data(), inputs_.at(output.name).data(), memory.bytes(), stream);
      else
        memory.poison(stream);
    }
  }

  // Stores another program's result for an output.
  void store(std::string_view output, const std::vector<std::byte>& bytes, Stream& stream) {
    DeviceBuffer<std::byte>& memory = outputs_.find(output)->second;
    copy_to_device(memory.data(), bytes.data(), bytes.size(), stream);
    stream.synchronize();
  }
  // The bytes of an input, without the gaps between its rows.
  std::vector<std::byte> bytes(std::string_view input) const {
    const card::Tensor& tensor = problem_.tensor(input);
    const std::size_t width = size_of(tensor.dtype);
    std::vector<std::byte> result(static_cast<std::size_t>(tensor.size()) * width);
    const TimedInput& its = inputs_.find(input)->second;
    if (tensor.gap == 0) {
      Stream stream;
      copy_to_host(result.data(), its.data(), result.size(), stream);
      return result;
    }
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const std::uint64_t bits = its.bits(i);
      std::memcpy(result.data() + static_cast<std::size_t>(i) * width, &bits,
                  width); // little-endian
    }
    return result;
  }

  // The largest error so far, as a share of the tolerance.
  void note(double error) { worst_error_ = std::max(worst_error_, error); }
  double worst_error() const { return worst_error_; }

  const card::Problem& problem() const { return problem_; }

  // The part of the problem with these rows, and its inputs.
  card::Problem rows(Window rows) const {
    card::Problem part = problem_;
    part.first_row = rows.first;
    for (auto* group : {&part.inputs, &part.outputs})
      for (card::Tensor& tensor : *group)
        if (tensor.by_row) tensor.extents[tensor.row_axis] = rows.count;
    return part;
  }
  card::Inputs inputs_of_rows(Window rows) const {
    card::Inputs values;
    for (const card::Tensor& tensor : problem_.inputs) {
      test::Observed& part_of_it = values[tensor.name];
      part_of_it.dtype = tensor.dtype;
      for (const Window run : runs(tensor, rows))
        for (std::int64_t i = run.first; i < run.first + run.count; ++i)
          part_of_it.values.push_back(inputs_.at(tensor.name).value(i));
    }
    return values;
  }

  bool is_input(std::string_view tensor) const { return inputs_.contains(tensor); }
  card::Elements input(std::string_view name) const {
    const TimedInput& its = inputs_.find(name)->second;
    card::Elements elements = [&its, this](std::int64_t i) {
      ++numbers_read_;
      return its.value(i);
    };
    elements.period = its.period();
    return elements;
  }
  // The number of input elements that the reference has read.
  std::int64_t numbers_read() const { return numbers_read_; }
  // The bits of element i of an input.
  std::uint64_t bits(std::string_view name, std::int64_t i) const {
    return inputs_.find(name)->second.bits(i);
  }

  // The part of the problem with these columns of all rows, and its inputs.
  card::Problem columns(const std::vector<std::int64_t>& some) const {
    card::Problem part = problem_;
    for (auto* group : {&part.inputs, &part.outputs})
      for (card::Tensor& tensor : *group)
        if (tensor.col_axis >= 0) tensor.extents.back() = std::ssize(some);
    return part;
  }
  card::Inputs inputs_of_columns(const std::vector<std::int64_t>& some) const {
    card::Inputs values;
    for (const card::Tensor& tensor : problem_.inputs) {
      test::Observed& part_of_it = values[tensor.name];
      part_of_it.dtype = tensor.dtype;
      const TimedInput& input = inputs_.at(tensor.name);
      const std::int64_t cols = tensor.col_axis >= 0 ? tensor.extents.back() : 1;
      for (std::int64_t i = 0; i < tensor.size(); i += cols) {
        if (tensor.col_axis < 0) part_of_it.values.push_back(input.value(i));
        for (const std::int64_t column : some)
          if (tensor.col_axis >= 0) part_of_it.values.push_back(input.value(i + column));
      }
    }
    return values;
  }

  // These rows of an output.
  test::Observed observe_rows(const card::Tensor& output, Window rows, Stream& stream) const {
    return observe(output, runs(output, rows), stream);
  }

  // These elements of an output.
  test::Observed observe(const card::Tensor& output, const std::vector<Window>& windows,
                         Stream& stream) const {
    const std::size_t width = size_of(output.dtype);
    std::vector<std::byte> bytes;
    for (const Window window : windows) {
      const std::size_t done = bytes.size();
      const std::size_t more = static_cast<std::size_t>(window.count) * width;
      bytes.resize(done + more);
      copy_to_host(bytes.data() + done,
                   outputs_.at(output.name).data() + static_cast<std::size_t>(window.first) * width,
                   more, stream);
    }
    return test::observe_bytes(output.dtype, bytes);
  }

 private:
  // The windows of a tensor that hold these rows; all of a tensor without rows.
  static std::vector<Window> runs(const card::Tensor& tensor, Window rows) {
    if (!tensor.by_row) return {{0, tensor.size()}};
    const std::span<const std::int64_t> extents = tensor.extents;
    const std::int64_t within = test::element_count(extents.subspan(tensor.row_axis + 1));
    std::vector<Window> result;
    for (std::int64_t i = 0; i < test::element_count(extents.first(tensor.row_axis)); ++i)
      result.push_back({(i * extents[tensor.row_axis] + rows.first) * within, rows.count * within});
    return result;
  }

  card::Problem problem_;
  std::map<std::string, TimedInput, std::less<>> inputs_;
  std::map<std::string, DeviceBuffer<std::byte>, std::less<>> outputs_;
  double worst_error_ = 0;
  mutable std::int64_t numbers_read_ = 0;
};

} // namespace kg::perf
