// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Interface by which code made from PTX reports values that nothing has written, from load to use.
// A value's origin identifies the load; 0 means defined. Code compiled from source does not report,
// because its values are C++ variables.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kg::host {

struct UndefinedValues {
  virtual ~UndefinedValues() = default;
  // Returns the origin of the `bytes` bytes at `from`, which the running thread has just loaded.
  // Loads without this query are reported at the load; 0 bytes query nothing.
  virtual std::uint32_t loaded(const void* from, std::size_t bytes) = 0;
  // Called after `instruction` has stored `bytes` bytes.
  virtual void stored(const void* to, std::size_t bytes, std::uint32_t origin,
                      const void* instruction) = 0;
  // `how` is a verb phrase: "branches on".
  virtual void used(std::uint32_t origin, const char* how, const void* instruction) = 0;
};

inline constinit UndefinedValues* undefined_values = nullptr; // null if nobody tracks them

} // namespace kg::host
