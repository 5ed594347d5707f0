// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements as unsigned integers of their size. Kernels that only move data are compiled once per
// size and move bits, since a float may lose its NaN payload in a floating-point register.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kg {

// Calls `body` with a zero of the unsigned integer type of `bytes` bytes. Throws Error, with a
// message that starts with `what`, if there is none.
template <class Body>
void with_word(const std::string& what, std::size_t bytes, Body body) {
  switch (bytes) {
  case 1: return body(std::uint8_t{});
  case 2: return body(std::uint16_t{});
  case 4: return body(std::uint32_t{});
  case 8: return body(std::uint64_t{});
  default:
    fail(what + ": elements have " + std::to_string(bytes) + " bytes; they must have 1, 2, 4 or 8");
  }
}

} // namespace kg
