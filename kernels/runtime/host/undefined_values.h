// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Interface by which code made from PTX reports undefined values, from their origin to their use: a
// load of memory that nothing has written, or a shuffle from a lane that takes no part. The number
// of an origin identifies that instruction; 0 means defined. Code compiled from source does not
// report, because its values are C++ variables.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <cstdint>

namespace kg::host {

struct UndefinedValues {
  virtual ~UndefinedValues() = default;
  // Returns the origin of the `bytes` bytes at `from`, which the running thread has just loaded.
  // Loads without this query are reported at the load; 0 bytes query nothing.
  virtual std::uint32_t loaded(const void* from, std::size_t bytes) = 0;
  // Returns the origin of the value that `name` took from `lane`, which takes no part in it.
  virtual std::uint32_t shuffled(unsigned lane, const char* name, Location where) = 0;
  // Called after `instruction` has stored `bytes` bytes.
  virtual void stored(const void* to, std::size_t bytes, std::uint32_t origin,
                      const void* instruction) = 0;
  // `how` is a verb phrase: "branches on".
  virtual void used(std::uint32_t origin, const char* how, const void* instruction) = 0;
};

inline constinit UndefinedValues* undefined_values = nullptr; // null if nobody tracks them

} // namespace kg::host
