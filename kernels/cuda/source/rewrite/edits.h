// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes to a text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kg::rewrite {

// [begin, end) of the text becomes `text`. Edits do not overlap.
struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};
using Edits = std::vector<Edit>;

} // namespace kg::rewrite
