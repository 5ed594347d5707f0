// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One run of a variant on given data, with everything around the tensors watched: what the run must
// leave alone is compared afterwards, and what it should write is poison before.
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

// The elements behind an output that must stay poison.
inline constexpr std::int64_t kBehind = 5;

// Inputs that a sample leaves open: those that the problem gives, else standard normals or patterns
// of bits, other ones for each tensor.
Inputs completed(const Problem& problem, Inputs inputs);

// Numbers with their patterns beside them, for what is written to memory many times.
Inputs encoded(Inputs inputs);

// The problem of a sample, with its scalars.
Problem problem_of(const Card& card, Dtype dtype, const Sample& sample);

// A tensor in device memory. Gaps and what lies in front are poison that nobody wrote, so that the
// checkers see a kernel read them.
class DeviceTensor {
 public:
  // Of an output: all poison.
  DeviceTensor(const Tensor& tensor, const Layout& layout, std::int64_t behind);
  // Of an input, with these elements.
  DeviceTensor(const Tensor& tensor, const Layout& layout, const test::Observed& values,
               Stream& stream);

  void* data() const; // its first element

  // As it was made; of an input with gaps, they are written, too.
  void restore(Stream& stream);

  // All bytes of its memory, as they are now.
  std::vector<std::byte> stored(Stream& stream) const;
  // Dense, row-major.
  test::Observed read(std::span<const std::byte> stored) const;
  test::Observed read(Stream& stream) const { return read(stored(stream)); }

  // What is wrong around it or, of an input that nobody may overwrite, in it; empty if nothing.
  std::vector<std::string> faults(std::span<const std::byte> stored, bool may_be_overwritten) const;

 private:
  std::string name_;
  Dtype dtype_;
  test::Strided view_;
  std::optional<std::vector<std::byte>> written_; // of an input
  DeviceBuffer<std::byte> memory_;
};

// A variant's or a vendor's; gives the name of what ran.
using Run = std::function<std::string_view(const Call&, Stream&)>;

// A problem's tensors in device memory, and the call that takes them. The arguments are execute's.
struct Bound {
  Bound(const Problem& problem, const Inputs& inputs, Stream& stream, const Layout& layout = {},
        const std::map<std::string, std::string>& in_place = {});

  // Runs in this memory once more, with outputs as they were at first; the bytes of each output's
  // memory. For many runs: on a GPU it takes a fifth of the driver's calls that execute does.
  std::map<std::string, std::vector<std::byte>> outputs_of(const Run& run, Stream& stream);

  std::map<std::string, DeviceTensor, std::less<>> tensors;
  Call call;
};

struct Outcome {
  Inputs outputs;                   // by name, as the inputs
  std::string ran;                  // the variant that ran
  std::vector<std::string> kernels; // the names of those launched
  const std::vector<std::uint64_t>& bits(std::string_view output) const {
    return outputs.find(output)->second.bits;
  }
  std::vector<std::string> faults; // of the memory around: "the kernel changed its input x"
};

// Leaves of outputs that are counted (Tensor::counted_by) what is written. What is wrong with a
// count, or behind it; empty if nothing.
std::vector<std::string> cut_to_counts(const Problem& problem, Inputs& outputs);

// An output that `in_place` names takes the memory of the input
// named beside it, one that the problem updates that of the input of its name.
Outcome execute(const Run& run, const Problem& problem, const Inputs& inputs, Stream& stream,
                const Layout& layout = {}, const std::map<std::string, std::string>& in_place = {});

} // namespace kg::card
