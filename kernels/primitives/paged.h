// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Paged key and value caches (Kwon et al., "PagedAttention", SOSP 2023). A table maps each run of a
// sequence's tokens to a page; all pages have the same number of tokens. Without a table, sequence
// b has a single page, page b.
#pragma once

#include "primitives/divisor.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg {

// Elements between consecutive pages, heads and tokens.
struct PageStrides {
  std::int64_t page = 0, head = 0, token = 0;
};

struct PageTable {
  std::int64_t tokens = 1;             // per page
  const std::int32_t* pages = nullptr; // [batch][stride] page indices; null: no table
  std::int64_t stride = 0;             // between rows of `pages`
};

// The table as kernels use it.
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
