// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/copy.h"

#include "libraries/host/onednn_reorder.h"
#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"
#include "primitives/words.h"

#include <thrust/copy.h>

#include <cstring>

namespace kg::vendor {
namespace c_library {
namespace {

void copy(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
          void* y, std::int64_t ldy, Stream&) {
  const auto bytes = [dtype](std::int64_t n) {
    return static_cast<std::size_t>(n) * size_of(dtype);
  };
  if (ldx == cols && ldy == cols) {
    std::memcpy(y, x, bytes(rows * cols));
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i)
    std::memcpy(static_cast<std::byte*>(y) + bytes(i * ldy),
                static_cast<const std::byte*>(x) + bytes(i * ldx), bytes(cols));
}

} // namespace
} // namespace c_library

namespace onednn {
namespace {

bool copy_supported(Dtype dtype, bool) { return reorder_supported(dtype); }

void copy(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
          void* y, std::int64_t ldy, Stream&) {
  reorder("copy", dtype, {rows, cols}, x, {ldx, 1}, y, {ldy, 1});
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

void copy(Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx,
          void* y, std::int64_t ldy, Stream&) {
  with_word("kg::vendor::copy", size_of(dtype), [&](auto word) {
    const auto* from = static_cast<const decltype(word)*>(x);
    auto* to = static_cast<decltype(word)*>(y);
    if (ldx == cols && ldy == cols) {
      thrust::copy_n(thrust::device, from, rows * cols, to);
      return;
    }
    thrust::copy_n(thrust::device, walks::elements(from, walks::AlongRows{cols, ldx}), rows * cols,
                   walks::elements(to, walks::AlongRows{cols, ldy}));
  });
}

} // namespace
} // namespace thrust_host

const Table<CopyVariant> copy_table = {
    {"memcpy", always, c_library::copy},
    {"onednn", onednn::copy_supported, onednn::copy},
    {"thrust", always, thrust_host::copy},
};

} // namespace kg::vendor
