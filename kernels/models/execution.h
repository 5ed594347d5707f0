// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a tape in one arena, planned before the first step, with all launches on one stream.
#pragma once

#include "models/tape.h"
#include "runtime/memory.h"

#include <span>
#include <vector>

namespace kg::models {

struct MemoryUse {
  std::int64_t predicted = 0; // bytes of the arena, as planned
  std::int64_t measured = 0;  // peak device memory allocated since the plan was made
  std::int64_t most_live = 0; // peak over the steps of live bytes: a lower bound for any plan
  std::int64_t unshared = 0;  // if no two tensors shared memory
};

class Execution {
 public:
  // Plans and allocates the arena, and prepares constants and state. Parameters and inputs are
  // poisoned until they are written. Throws Error if the device has too little free memory.
  Execution(Tape tape, Stream& stream);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Enqueues the steps of a phase without synchronization, so forward and backward can be captured
  // as a graph. Phase update cannot: a graph would freeze the update number in bias correction.
  void run(Phase phase);
  // Runs the phase and returns the nanoseconds of each step, in order.
  std::vector<double> run_timed(Phase phase);
  std::vector<Step> steps(Phase phase) const;
  // Does not count the last phase update, because the device skipped it.
  void take_back_update() { --updates_; }

  // Fills each tensor with NaN before its first write and after its last read, so that a wrong
  // lifetime becomes visible.
  void poison_unused(bool on) { poison_ = on; }

  // Rounds the values to the tensor's element type.
  void write(Tensor tensor, std::span<const float> values);
  void write(Tensor tensor, std::span<const std::int32_t> values);
  // Only rows [first, first + values.size() / cols).
  void write_rows(Tensor tensor, std::int64_t first, std::span<const float> values);
  // Throws Error for a tensor whose memory may be reused before the run ends; see Tape::keep.
  std::vector<float> read(Tensor tensor) const;
  std::vector<std::int32_t> read_integers(Tensor tensor) const;

  const Tape& tape() const { return tape_; }
  const Placement& placement() const { return placement_; }
  Stream& stream() const { return stream_; }
  MemoryUse memory() const;
  // Throws Error unless the device held exactly the predicted bytes and the arena's guards are
  // intact.
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
