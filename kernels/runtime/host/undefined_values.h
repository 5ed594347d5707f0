// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What code made from PTX tells whoever follows values that nothing has written from their load to
// their use. A value's origin stands for the load: 0 where the value is defined. Code that is
// compiled from source says nothing of this, because its values are variables of C++.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kg::host {

struct UndefinedValues {
  virtual ~UndefinedValues() = default;
  // The origin of what the running thread has just loaded, `bytes` bytes from `from` on. Loads that
  // nobody asks about are reported where they are; 0 bytes ask about none.
  virtual std::uint32_t loaded(const void* from, std::size_t bytes) = 0;
  // After a store of `bytes` bytes, which `instruction` makes.
  virtual void stored(const void* to, std::size_t bytes, std::uint32_t origin,
                      const void* instruction) = 0;
  // `how` is a verb and what goes with it: "branches on".
  virtual void used(std::uint32_t origin, const char* how, const void* instruction) = 0;
};

inline constinit UndefinedValues* undefined_values = nullptr; // null when nobody follows them

} // namespace kg::host
