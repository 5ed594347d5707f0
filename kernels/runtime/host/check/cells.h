// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Iterates over the shadow cells of a memory range.
#pragma once

#include "runtime/host/check/checker.h"

#include <algorithm>

namespace kg::check {

// Visits the existing cells of a range: visit(page, cell).
template <class Visit>
void Checker::for_each_cell(std::uintptr_t address, std::size_t bytes, const Visit& visit) {
  for (const std::uintptr_t end = address + bytes; address < end;) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t part = std::min<std::size_t>(end - address, kPageBytes - offset);
    Page* const page = shadow_.find(address);
    if (page && page->has_cells()) {
      const std::size_t last = page->cell_of(offset + part - 1);
      for (std::size_t cell = page->cell_of(offset); cell <= last; ++cell) visit(*page, cell);
    }
    address += part;
  }
}

} // namespace kg::check
