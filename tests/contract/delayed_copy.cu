// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/delayed_copy.h"

#include "tests/support/repeats.h"

namespace kg::card {

void copy_delayed(const void* from, void* to, std::size_t bytes, Stream& stream) {
  constexpr unsigned kSpins = backend == Backend::cuda ? 1u << 22 : 1u;
  launch(test::copy_delayed<unsigned char>, {.grid = 1, .block = 1, .stream = &stream},
         static_cast<const unsigned char*>(from), static_cast<unsigned char*>(to),
         static_cast<std::int64_t>(bytes), kSpins, 0u);
}

} // namespace kg::card
