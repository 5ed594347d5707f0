// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Iterates over the shadow cells of a memory range.
#pragma once

#include "runtime/host/check/checker.h"

namespace kg::check {

// Visits the existing cells of a range: visit(page, cell, address).
template <class Visit>
void Checker::for_each_cell(std::uintptr_t address, std::size_t bytes, const Visit& visit) {
  for (const std::uintptr_t end = address + bytes; address < end;) {
    Page* const page = shadow_.find(address);
    if (!page || !page->has_cells()) {
      address = (address / kPageBytes + 1) * kPageBytes;
      continue;
    }
    visit(*page, page->cell_of(address % kPageBytes), address);
    address += std::size_t{1} << page->shift;
  }
}

} // namespace kg::check
