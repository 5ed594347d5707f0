// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A fuzz target is one reader of what others write. Whatever the bytes, the reader returns or
// throws Error: another exception, a finding of the sanitizers or a hang is a bug.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// As libFuzzer calls it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kg::fuzz {

template <class Reader>
void attempt(Reader reader) {
  try {
    reader();
  } catch (const Error&) {
  }
}

} // namespace kg::fuzz
