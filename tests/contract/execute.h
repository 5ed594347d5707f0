// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One run of a variant on given data, with the memory around the tensors watched: outputs are
// poisoned before the run, and everything that the run must not write is compared afterwards.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/stream.h"
#include "tests/contract/card.h"

namespace kg::card {

// The elements after an output that must stay poisoned.
inline constexpr std::int64_t kBehind = 5;

// Fills in the inputs that a sample leaves open: those that the problem defines, else standard
// normals or bit patterns, different for each tensor.
Inputs completed(const Problem& problem, Inputs inputs);

// Numbers together with their bit patterns, for inputs that are written to memory many times.
Inputs encoded(Inputs inputs);

// The problem of a sample, including its scalars.
Problem problem_of(const Card& card, Dtype dtype, const Sample& sample);

// A tensor in device memory. Gaps and the elements before the tensor are poison that was never
// written, so the checkers report kernels that read them.
class DeviceTensor {
 public:
  // An output: all poison.
  DeviceTensor(const Tensor& tensor, const Layout& layout, std::int64_t behind);
  // An input with these elements.
  DeviceTensor(const Tensor& tensor, const Layout& layout, const test::Observed& values,
               Stream& stream);

  void* data() const; // its first element

  // Restores the initial contents. The gaps of an input are written as well.
  void restore(Stream& stream);

  // All bytes of its memory, in their current state.
  std::vector<std::byte> stored(Stream& stream) const;
  // Dense, row-major.
  test::Observed read(std::span<const std::byte> stored) const;
  test::Observed read(Stream& stream) const { return read(stored(stream)); }

  // Faults around the tensor and, unless an input may be overwritten, inside it; empty if none.
  std::vector<std::string> faults(std::span<const std::byte> stored, bool may_be_overwritten) const;

 private:
  std::string name_;
  Dtype dtype_;
  test::Strided view_;
  std::optional<std::vector<std::byte>> written_; // of an input
  DeviceBuffer<std::byte> memory_;
};

// Runs a variant or a vendor and returns the name of what ran.
using Run = std::function<std::string_view(const Call&, Stream&)>;

// A problem's tensors in device memory, and a call bound to them. Same arguments as execute.
struct Bound {
  Bound(const Problem& problem, const Inputs& inputs, Stream& stream, const Layout& layout = {},
        const std::map<std::string, std::string>& in_place = {});

  // Runs again in this memory with the outputs' initial contents; returns the bytes of each
  // output's memory. For many runs: on a GPU a fifth of the driver calls that execute makes.
  std::map<std::string, std::vector<std::byte>> outputs_of(const Run& run, Stream& stream);

  std::map<std::string, DeviceTensor, std::less<>> tensors;
  Call call;
};

struct Outcome {
  Inputs outputs;                   // by name, like the inputs
  std::string ran;                  // the variant that ran
  std::vector<std::string> kernels; // the names of the launched kernels
  const std::vector<std::uint64_t>& bits(std::string_view output) const {
    return outputs.find(output)->second.bits;
  }
  std::vector<std::string> faults; // faults around the tensors: "the kernel changed its input x"
};

// Truncates counted outputs (Tensor::counted_by) to the elements that were written. Returns the
// faults of a count, or of the elements after it; empty if none.
std::vector<std::string> cut_to_counts(const Problem& problem, Inputs& outputs);

// An output named in `in_place` shares the memory of the input given there; an output that the
// problem updates shares the memory of its own input.
Outcome execute(const Run& run, const Problem& problem, const Inputs& inputs, Stream& stream,
                const Layout& layout = {}, const std::map<std::string, std::string>& in_place = {});

} // namespace kg::card
