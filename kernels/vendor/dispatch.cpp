// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"
#include "runtime/memory.h"
#include "vendor/tables.h"

#include <algorithm>
#include <initializer_list>

namespace kg::vendor {
namespace {

constexpr auto kAlways = [](const auto&) { return true; };

template <class Entry, class Supports>
std::vector<std::string_view> names(std::span<const Entry> table, Supports supports) {
  std::vector<std::string_view> result;
  for (const Entry& entry : table)
    if (supports(entry)) result.push_back(entry.name);
  return result;
}

template <class Entry, class Supports>
const Entry& find(std::span<const Entry> table, std::string_view variant, const std::string& what,
                  Supports supports) {
  for (const Entry& entry : table)
    if (entry.name == variant && supports(entry)) return entry;
  std::string known;
  for (std::string_view name : names(table, supports))
    known += (known.empty() ? "" : ", ") + std::string(name);
  fail("kg::vendor::" + what + ": there is no variant \"" + std::string(variant) +
       "\" on this backend; use one of: " + (known.empty() ? "(none)" : known));
}

struct Extent {
  const char* name;
  std::int64_t value;
};

void require_extents(const std::string& what, std::initializer_list<Extent> extents) {
  for (const Extent& extent : extents)
    require(extent.value >= 0, "kg::vendor::" + what + ": " + extent.name + " is " +
                                   std::to_string(extent.value) + "; it must not be negative");
}

struct Pointer {
  const char* name;
  const void* value;
};

void require_pointers(const std::string& what, std::initializer_list<Pointer> pointers) {
  for (const Pointer& pointer : pointers)
    require(pointer.value != nullptr,
            "kg::vendor::" + what + ": " + pointer.name + " is null; pass memory of the backend");
}

void require_leading(const std::string& what, const char* name, std::int64_t value,
                     std::int64_t row_length) {
  require(value >= row_length, "kg::vendor::" + what + ": " + name + " is " +
                                   std::to_string(value) + "; rows are " +
                                   std::to_string(row_length) + " long, it must not be less");
}

std::string_view name(Binary op) {
  switch (op) {
  case Binary::add: return "add";
  case Binary::sub: return "sub";
  case Binary::mul: return "mul";
  case Binary::div: return "div";
  }
  return "";
}

std::string_view name(SumAxis axis) {
  switch (axis) {
  case SumAxis::all: return "all";
  case SumAxis::rows: return "rows";
  case SumAxis::columns: return "columns";
  }
  return "";
}

std::string join(std::string_view operation, std::string_view detail) {
  return std::string(operation) + "(" + std::string(detail) + ")";
}

} // namespace

std::vector<std::string_view> elementwise_variants(Binary op, Dtype dtype) {
  return names(elementwise_table(), [&](const auto& entry) { return entry.supports(op, dtype); });
}

void elementwise(std::string_view variant, Binary op, Dtype dtype, const void* a, const void* b,
                 void* out, std::int64_t n, Stream& stream) {
  const std::string what =
      join("elementwise", std::string(name(op)) + " " + std::string(kg::name(dtype)));
  const auto& entry = find(elementwise_table(), variant, what,
                           [&](const auto& each) { return each.supports(op, dtype); });
  require_extents(what, {{"n", n}});
  if (n == 0) return;
  require_pointers(what, {{"a", a}, {"b", b}, {"out", out}});
  entry.run(op, dtype, a, b, out, n, stream);
}

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

std::vector<std::string_view> softmax_variants(Dtype dtype) {
  return names(softmax_table(), [&](const auto& entry) { return entry.supports(dtype); });
}

void softmax(std::string_view variant, Dtype dtype, const void* x, void* y, std::int64_t rows,
             std::int64_t cols, Stream& stream) {
  const std::string what = join("softmax", kg::name(dtype));
  const auto& entry =
      find(softmax_table(), variant, what, [&](const auto& each) { return each.supports(dtype); });
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(dtype, x, y, rows, cols, stream);
}

std::vector<std::string_view> transpose_variants() { return names(transpose_table(), kAlways); }

void transpose(std::string_view variant, const float* x, std::int64_t rows, std::int64_t cols,
               std::int64_t ldx, float* y, std::int64_t ldy, Stream& stream) {
  const std::string what = "transpose";
  const auto& entry = find(transpose_table(), variant, what, kAlways);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  require_leading(what, "ldx", ldx, cols);
  require_leading(what, "ldy", ldy, rows);
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(x, rows, cols, ldx, y, ldy, stream);
}

std::vector<std::string_view> gemm_variants() { return names(gemm_table(), kAlways); }

void gemm(std::string_view variant, const Gemm& problem, Math math, Stream& stream) {
  const std::string what = "gemm";
  const auto& entry = find(gemm_table(), variant, what, kAlways);
  require_extents(what, {{"m", problem.m}, {"n", problem.n}, {"k", problem.k}});
  require_leading(what, "lda", problem.lda, problem.transpose_a ? problem.m : problem.k);
  require_leading(what, "ldb", problem.ldb, problem.transpose_b ? problem.k : problem.n);
  require_leading(what, "ldc", problem.ldc, problem.n);
  if (problem.m == 0 || problem.n == 0) return;
  require_pointers(what, {{"c", problem.c}});
  if (problem.k > 0) require_pointers(what, {{"a", problem.a}, {"b", problem.b}});
  Gemm checked = problem; // BLAS wants leading dimensions of at least 1 even where k = 0
  checked.lda = std::max<std::int64_t>(problem.lda, 1);
  checked.ldb = std::max<std::int64_t>(problem.ldb, 1);
  entry.run(checked, math, stream);
}

} // namespace kg::vendor
