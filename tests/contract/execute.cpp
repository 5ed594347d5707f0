// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/execute.h"

#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/launch.h"
#include "runtime/memory.h"
#include "tests/oracle/fills.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace kg::card {
namespace {

std::uint64_t bits_at(std::span<const std::byte> bytes, std::size_t width, std::int64_t place) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + static_cast<std::size_t>(place) * width, width);
  return bits; // little-endian
}

// Whether reads of uninitialised memory are detected: by the executor's checkers, or by
// compute-sanitizer.
bool initialisation_is_watched() {
  return backend == Backend::host || device_properties().emulated ||
         is_set("KERNELGRADE_UNGUARDED");
}

} // namespace

Inputs completed(const Problem& problem, Inputs inputs) {
  problem.draw(problem, inputs);
  std::uint64_t number = 0;
  std::int64_t patterns = 0; // number of patterns in use
  for (const Tensor& tensor : problem.inputs) {
    ++number;
    if (inputs.contains(tensor.name)) continue;
    test::Observed& input = inputs[tensor.name];
    input.dtype = tensor.dtype;
    if (tensor.element) {
      for (std::int64_t i = 0; i < tensor.size(); ++i) input.bits.push_back(tensor.element(i));
    } else if (problem.patterns) {
      const auto all = test::unique_bits(tensor.dtype, patterns + tensor.size());
      input.bits.assign(all.begin() + patterns, all.end());
      patterns = std::ssize(all);
    } else {
      input.values = test::random_numbers(tensor.dtype, tensor.size(), test::Tensor{number}).values;
    }
    for (const std::uint64_t bits : input.bits)
      input.values.push_back(test::decode(tensor.dtype, bits));
  }
  return inputs;
}

Inputs encoded(Inputs inputs) {
  for (auto& [name, input] : inputs) {
    if (!input.bits.empty()) continue;
    input.bits.reserve(input.values.size());
    for (const double value : input.values) input.bits.push_back(test::encode(input.dtype, value));
  }
  return inputs;
}

Problem problem_of(const Card& card, Dtype dtype, const Sample& sample) {
  const Shape shape = Shape::parse(sample.shape);
  Problem problem = card.problem(dtype, shape);
  problem.shape = sample.shape;
  problem.patterns = static_cast<bool>(card.source);
  for (const auto& [name, value] : sample.scalars) problem.scalars[name] = value;
  for (const std::string& tensor : sample.without) problem = problem.without(tensor);
  return problem;
}

DeviceTensor::DeviceTensor(const Tensor& tensor, const Layout& layout, std::int64_t behind)
    : name_(tensor.name), dtype_(tensor.dtype), view_(strided(tensor, layout)),
      memory_(static_cast<std::size_t>(view_.storage_size() + behind) * size_of(dtype_)) {}

DeviceTensor::DeviceTensor(const Tensor& tensor, const Layout& layout, const test::Observed& values,
                           Stream& stream)
    : DeviceTensor(tensor, layout, 0) {
  const std::size_t width = size_of(dtype_);
  const std::int64_t size = view_.size();
  require(static_cast<std::int64_t>(values.values.size()) == size,
          fmt::format("{} elements for the tensor {} of {}", values.values.size(), name_, size));
  written_.emplace(memory_.bytes(), std::byte{kPoisonByte});
  // Where uninitialised reads are detected, gaps must stay unwritten. Elsewhere one copy transfers
  // everything, since a GPU takes as long for a row as for the whole.
  const bool by_runs = initialisation_is_watched();
  view_.for_each_run([&](std::int64_t first, std::int64_t place, std::int64_t run) {
    const auto from = static_cast<std::size_t>(first), count = static_cast<std::size_t>(run);
    const std::size_t at = static_cast<std::size_t>(place) * width;
    if (values.bits.empty())
      test::encode_bytes(dtype_, std::span(values.values).subspan(from, count),
                         std::span(*written_).subspan(at, count * width));
    else
      test::store_bits(dtype_, std::span(values.bits).subspan(from, count),
                       std::span(*written_).subspan(at, count * width));
    if (by_runs) copy_to_device(memory_.data() + at, written_->data() + at, count * width, stream);
  });
  if (!by_runs) copy_to_device(memory_.data(), written_->data(), memory_.bytes(), stream);
}

void DeviceTensor::restore(Stream& stream) {
  if (written_)
    copy_to_device(memory_.data(), written_->data(), memory_.bytes(), stream);
  else
    memory_.poison(stream);
}

void* DeviceTensor::data() const {
  return memory_.data() + static_cast<std::size_t>(view_.offset) * size_of(dtype_);
}

std::vector<std::byte> DeviceTensor::stored(Stream& stream) const {
  return memory_.to_host(stream);
}

test::Observed DeviceTensor::read(std::span<const std::byte> bytes) const {
  const std::size_t width = size_of(dtype_);
  test::Observed seen{dtype_, {}, {}};
  seen.bits.reserve(static_cast<std::size_t>(view_.size()));
  seen.values.reserve(static_cast<std::size_t>(view_.size()));
  view_.for_each_run([&](std::int64_t, std::int64_t place, std::int64_t run) {
    test::append_bytes(seen, bytes.subspan(static_cast<std::size_t>(place) * width,
                                           static_cast<std::size_t>(run) * width));
  });
  return seen;
}

std::vector<std::string> DeviceTensor::faults(std::span<const std::byte> bytes,
                                              bool may_be_overwritten) const {
  std::vector<std::string> found;
  try {
    memory_.check_guards();
  } catch (const Error& error) {
    found.push_back(fmt::format("around {}: {}", name_, error.what()));
  }
  if (written_ && !may_be_overwritten) {
    if (!std::equal(bytes.begin(), bytes.end(), written_->begin(), written_->end()))
      found.push_back("the kernel changed its input " + name_);
    return found;
  }
  const std::size_t width = size_of(dtype_);
  std::vector<char> in_view(bytes.size() / width, 0);
  view_.for_each_run([&](std::int64_t, std::int64_t place, std::int64_t run) {
    std::fill_n(in_view.begin() + place, run, 1);
  });
  std::int64_t touched = 0, first = 0;
  for (auto at = std::find(in_view.begin(), in_view.end(), 0); at != in_view.end();
       at = std::find(at + 1, in_view.end(), 0)) {
    const std::int64_t place = at - in_view.begin();
    if (bits_at(bytes, width, place) == test::poison_bits(dtype_)) continue;
    if (touched++ == 0) first = place;
  }
  if (touched > 0)
    found.push_back(
        fmt::format("{} elements outside of {} were written, the first at element {} of its "
                    "storage (bits {:#x})",
                    touched, name_, first, bits_at(bytes, width, first)));
  return found;
}

std::vector<std::string> cut_to_counts(const Problem& problem, Inputs& outputs) {
  std::vector<std::string> faults;
  for (const Tensor& output : problem.outputs) {
    if (output.counted_by.empty()) continue;
    test::Observed& seen = outputs.find(output.name)->second;
    const double count = outputs.find(output.counted_by)->second.values.at(0);
    if (!(count >= 0 && count <= static_cast<double>(output.size()))) {
      faults.push_back(fmt::format("{} is {}, and {} has {} elements", output.counted_by, count,
                                   output.name, output.size()));
      continue;
    }
    const auto written = static_cast<std::size_t>(count);
    for (std::size_t i = written; i < seen.bits.size(); ++i)
      if (seen.bits[i] != test::poison_bits(output.dtype)) {
        faults.push_back(fmt::format("the kernel wrote element {} of {}, and counts {}", i,
                                     output.name, written));
        break;
      }
    seen.values.resize(written);
    seen.bits.resize(written);
  }
  return faults;
}

Bound::Bound(const Problem& problem, const Inputs& inputs, Stream& stream, const Layout& layout,
             const std::map<std::string, std::string>& in_place)
    : call(problem) {
  for (const Tensor& input : problem.inputs) {
    const auto& tensor =
        tensors.try_emplace(input.name, input, layout, inputs.at(input.name), stream).first->second;
    call.bind(input.name, tensor.data(), place_of(layout, input.name));
  }
  for (const Tensor& output : problem.outputs) {
    const auto input = in_place.find(output.name);
    const DeviceTensor& tensor =
        input != in_place.end()
            ? tensors.at(input->second)
            : tensors.try_emplace(output.name, output, layout, kBehind).first->second;
    call.bind(output.name, tensor.data(), place_of(layout, output.name));
  }
  for (const Tensor& kept : problem.kept)
    call.bind(kept.name, tensors.try_emplace(kept.name, kept, layout, 0).first->second.data());
}

std::map<std::string, std::vector<std::byte>> Bound::outputs_of(const Run& run, Stream& stream) {
  const Problem& problem = call.problem();
  for (const Tensor& output : problem.outputs) tensors.at(output.name).restore(stream);
  run(call, stream);
  stream.synchronize();
  std::map<std::string, std::vector<std::byte>> outputs;
  for (const Tensor& output : problem.outputs)
    outputs[output.name] = tensors.at(output.name).stored(stream);
  return outputs;
}

Outcome execute(const Run& run, const Problem& problem, const Inputs& inputs, Stream& stream,
                const Layout& layout, const std::map<std::string, std::string>& in_place) {
  const Bound bound(problem, inputs, stream, layout, in_place);
  const auto& [tensors, call] = bound;
  const auto taken = [&](const std::string& input) {
    return problem.updates(input) ||
           std::any_of(in_place.begin(), in_place.end(),
                       [&](const auto& pair) { return pair.second == input; });
  };

  Outcome outcome;
  {
    LaunchRecorder recorder;
    outcome.ran = run(call, stream);
    stream.synchronize();
    for (const LaunchRecord& launch : recorder.launches())
      outcome.kernels.push_back(launch.kernel_name);
  }
  try {
    call.check_workspace();
  } catch (const Error& error) {
    outcome.faults.push_back(fmt::format("around the workspace: {}", error.what()));
  }
  std::map<std::string, std::vector<std::byte>, std::less<>> stored;
  for (const auto& [name, tensor] : tensors) {
    const std::vector<std::byte>& bytes = stored[name] = tensor.stored(stream);
    for (std::string& fault : tensor.faults(bytes, taken(name)))
      outcome.faults.push_back(std::move(fault));
  }
  for (const Tensor& output : problem.outputs) {
    const auto input = in_place.find(output.name);
    const std::string& holder = input != in_place.end() ? input->second : output.name;
    outcome.outputs[output.name] = tensors.at(holder).read(stored.at(holder));
  }
  for (std::string& fault : cut_to_counts(problem, outcome.outputs))
    outcome.faults.push_back(std::move(fault));
  return outcome;
}

} // namespace kg::card
