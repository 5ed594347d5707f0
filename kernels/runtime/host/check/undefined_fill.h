// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a program's results depend on memory that nothing has written. Code compiled from source
// does not track values, so `kernelgrade check` runs the program again with other values in such
// memory, and compares what leaves the device (perf/cli/check/undefined.h).
#pragma once

#include "runtime/host/check/memory_map.h"
#include "runtime/host/check/shadow.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace kg::check {

// Off unless KERNELGRADE_UNDEFINED_FILL is BYTE or BYTE:LOAD, in decimal, and events are read.
// Loads of never-written memory are then no findings but events (runtime/event_file.h), and yield
// BYTE. With LOAD, only the instruction with this number does; the others yield kPoisonByte. The
// first instruction to load such memory has the number 1.
class UndefinedFill {
 public:
  UndefinedFill(); // a bad value switches it off; `check` then has no results to compare
  bool is_on() const { return on_; }

  // Called before a load of never-written memory. True for the first one by this instruction.
  bool load(Span memory, Site instruction);
  // Adds to the hash what is copied to the host, and what a buffer holds when it is freed or the
  // program ends; without the bytes that nothing has written.
  void copied_to_host(Span memory, Shadow& shadow);
  void ended(Span buffer, Shadow& shadow);
  void write_results() const; // the event with the hash; not if a buffer was sparse

 private:
  std::uint64_t hash(std::uint64_t hash, Span range, Shadow& shadow) const;

  bool on_ = false;
  unsigned char byte_ = 0;
  unsigned only_ = 0;
  bool sparse_ = false;
  std::uint64_t copies_;
  std::uint64_t buffers_ = 0;                // a sum, since addresses decide their order
  std::unordered_map<Site, unsigned> loads_; // numbers
};

} // namespace kg::check
