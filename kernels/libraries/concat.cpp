// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/concat.h"

#include "libraries/copy.h"
#include "libraries/dispatch.h"
#include "runtime/error.h"

#include <cstddef>
#include <string>

namespace kg::vendor {

bool ConcatVariant::supports(Dtype dtype) const {
  return contains(names(copy_table, dtype, false), name);
}

namespace {

// Returns the number of columns of the whole as a matrix of `outer` rows. Throws Error.
std::int64_t require_shape(std::string_view what, const ConcatShape& shape, std::size_t pointers) {
  require_extents(what, {{"outer", shape.outer}, {"inner", shape.inner}});
  require(pointers == shape.extents.size(),
          "kg::vendor::" + std::string(what) + ": " + std::to_string(pointers) + " pointers for " +
              std::to_string(shape.extents.size()) + " extents; give one per part");
  std::int64_t cols = 0;
  for (const std::int64_t extent : shape.extents) {
    require_extents(what, {{"an extent", extent}});
    cols += extent * shape.inner;
  }
  return cols;
}

std::byte* advanced(void* data, std::int64_t elements, Dtype dtype) {
  return static_cast<std::byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
}
const std::byte* advanced(const void* data, std::int64_t elements, Dtype dtype) {
  return static_cast<const std::byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
}

} // namespace

void concat(std::string_view variant, Dtype dtype, std::span<const void* const> parts, void* whole,
            const ConcatShape& shape, Stream& stream) {
  const std::string what = join("concat", {name(dtype)});
  const auto& entry = find(concat_table, variant, what, dtype);
  const std::int64_t cols = require_shape(what, shape, parts.size());
  if (shape.outer * cols == 0) return;
  require_pointers(what, {{"whole", whole}});
  std::vector<ConcatPart> filled;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (shape.extents[p] == 0) continue;
    require_pointers(what, {{"a part", parts[p]}});
    filled.push_back({parts[p], shape.extents[p] * shape.inner});
  }
  if (entry.concat != nullptr) {
    entry.concat(dtype, filled, shape.outer, whole, stream);
    return;
  }
  std::int64_t first = 0;
  for (const ConcatPart& part : filled) {
    copy(variant, dtype, part.data, shape.outer, part.cols, part.cols,
         advanced(whole, first, dtype), cols, stream);
    first += part.cols;
  }
}

void split(std::string_view variant, Dtype dtype, const void* whole, std::span<void* const> parts,
           const ConcatShape& shape, Stream& stream) {
  const std::string what = join("split", {name(dtype)});
  find(concat_table, variant, what, dtype);
  const std::int64_t cols = require_shape(what, shape, parts.size());
  if (shape.outer * cols == 0) return;
  require_pointers(what, {{"whole", whole}});
  std::int64_t first = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t part_cols = shape.extents[p] * shape.inner;
    if (part_cols == 0) continue;
    require_pointers(what, {{"a part", parts[p]}});
    copy(variant, dtype, advanced(whole, first, dtype), shape.outer, part_cols, cols, parts[p],
         part_cols, stream);
    first += part_cols;
  }
}

} // namespace kg::vendor
