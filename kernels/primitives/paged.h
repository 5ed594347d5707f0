// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of keys or values that grow by a token at a time, in pages of equally many tokens (Kwon et
// al., "PagedAttention", SOSP 2023): a table says in which page each run of a sequence's tokens
// lies. Without a table sequence b has one page, number b, for all its tokens.
#pragma once

#include "primitives/divisor.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg {

// Elements from one page, head or token to the next.
struct PageStrides {
  std::int64_t page = 0, head = 0, token = 0;
};

struct PageTable {
  std::int64_t tokens = 1;             // of a page
  const std::int32_t* pages = nullptr; // batch rows of page numbers; null: no table
  std::int64_t stride = 0;             // from one such row to the next
};

// The same for a kernel.
struct Pages {
  Divisor tokens;
  const std::int32_t* pages;
  std::int64_t stride;

  explicit Pages(const PageTable& table)
      : tokens(table.tokens), pages(table.pages), stride(table.stride) {}

  struct Place {
    std::int64_t page, token; // token: within the page

    __device__ __forceinline__ std::int64_t row(const PageStrides& stride,
                                                std::int64_t head) const {
      return page * stride.page + head * stride.head + token * stride.token;
    }
  };
  __device__ __forceinline__ Place place(std::int64_t sequence, std::int64_t token) const {
    if (pages == nullptr) return {sequence, token};
    const std::int64_t run = tokens.quotient(token);
    return {pages[sequence * stride + run], token - run * tokens.value};
  }
};

} // namespace kg
