// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tape with memory: one arena, planned before the first step, and all launches on one stream.
#pragma once

#include "models/tape.h"
#include "runtime/memory.h"

#include <span>
#include <vector>

namespace kg::models {

struct MemoryUse {
  std::int64_t predicted = 0; // bytes of the arena, as planned
  std::int64_t measured = 0;  // the most device memory that was held at once since then
  std::int64_t most_live = 0; // of the tensors of one step: the least that any plan could do with
  std::int64_t unshared = 0;  // if each tensor had memory of its own
};

class Execution {
 public:
  // Plans and allocates the arena, and prepares constants and state. Parameters and inputs are
  // poisoned until they are written. Throws Error where the device has not so much memory free.
  Execution(Tape tape, Stream& stream);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Enqueues the steps of a phase. They wait for nobody, so that forward and backward can be
  // captured as a graph; the optimiser's correction counts updates, which a graph would repeat.
  void run(Phase phase);
  // The same with the nanoseconds that each of its steps took, in order.
  std::vector<double> run_timed(Phase phase);
  std::vector<Step> steps(Phase phase) const;
  // The last phase update left everything as it was: it is none of those that are counted.
  void take_back_update() { --updates_; }

  // Memory is poisoned (NaN) before the step that writes it first, and after the one that reads it
  // last, so that a wrong lifetime cannot go unnoticed.
  void poison_unused(bool on) { poison_ = on; }

  // Numbers are rounded to the tensor's elements.
  void write(Tensor tensor, std::span<const float> values);
  void write(Tensor tensor, std::span<const std::int32_t> values);
  // Rows [first, first + values.size() / cols) alone.
  void write_rows(Tensor tensor, std::int64_t first, std::span<const float> values);
  // Throws Error for a tensor whose memory others have by the end of the run: Tape::keep.
  std::vector<float> read(Tensor tensor) const;
  std::vector<std::int32_t> read_integers(Tensor tensor) const;

  const Tape& tape() const { return tape_; }
  const Placement& placement() const { return placement_; }
  Stream& stream() const { return stream_; }
  MemoryUse memory() const;
  // Throws Error unless the device held what was predicted and no byte more, and what surrounds it
  // is untouched.
  void check_memory() const;

 private:
  Run now() const;
  void poison_born(std::int64_t step) const;
  void poison_dead(std::int64_t step) const;
  void copy_in(Tensor tensor, std::int64_t first, std::span<const std::byte> bytes);
  std::vector<std::byte> copy_out(Tensor tensor) const;

  Tape tape_;
  Stream& stream_;
  std::vector<Lifetime> lifetimes_;
  Placement placement_;
  std::size_t held_before_ = 0;
  Allocation arena_;
  std::int64_t updates_ = 0;
  bool poison_ = false;
};

} // namespace kg::models
