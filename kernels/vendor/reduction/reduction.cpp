// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/reduction/reduction.h"

#include "runtime/memory.h"
#include "vendor/dispatch.h"

namespace kg::vendor {
namespace {

std::string_view name(SumAxis axis) {
  switch (axis) {
  case SumAxis::all: return "all";
  case SumAxis::rows: return "rows";
  case SumAxis::columns: return "columns";
  }
  return "";
}

} // namespace

std::vector<std::string_view> reduction_variants(SumAxis axis) {
  return names(reduction_table(), [&](const auto& entry) { return entry.supports(axis); });
}

void reduction(std::string_view variant, SumAxis axis, const float* x, std::int64_t rows,
               std::int64_t cols, float* out, Stream& stream) {
  const std::string what = join("reduction", name(axis));
  const auto& entry =
      find(reduction_table(), variant, what, [&](const auto& each) { return each.supports(axis); });
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  const std::int64_t results = axis == SumAxis::all ? 1 : axis == SumAxis::rows ? rows : cols;
  if (results == 0) return;
  require_pointers(what, {{"out", out}});
  if (rows == 0 || cols == 0) { // empty sums are 0
    fill_bytes(out, 0, static_cast<std::size_t>(results) * sizeof(float), stream);
    return;
  }
  require_pointers(what, {{"x", x}});
  if (results == rows * cols) { // one term each, which cuDNN and oneDNN refuse to call a reduction
    copy_on_device(out, x, static_cast<std::size_t>(results) * sizeof(float), stream);
    return;
  }
  entry.run(axis, x, rows, cols, out, stream);
}

} // namespace kg::vendor
