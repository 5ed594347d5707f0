// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Picking all rows of a table once, in an order that jumps: rows of whole packs, rows that no word
// of 8 bytes divides, and single elements.
#include "perf/measure/moved_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "vendor/gather/gather.h"

#include "gather/gather.h"

#include <bit>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

// A permutation of 0 ... rows - 1; rows is a power of two, 4 or more. Each step is one: a product
// with an odd number modulo a power of two, and a shifted word that is added without carry.
std::int64_t scattered(std::int64_t i, std::int64_t rows) {
  const auto last = static_cast<std::uint64_t>(rows - 1);
  const int half = std::bit_width(last) / 2;
  std::uint64_t place = static_cast<std::uint64_t>(i);
  for (const std::uint64_t factor : {0x9E3779B97F4A7C15u, 0xD1B54A32D192ED03u}) {
    place = place * factor & last;
    place ^= place >> half;
  }
  return static_cast<std::int64_t>(place);
}

template <class T, class Index>
struct Tensors {
  Tensors(const gather::Problem& p, Stream& stream)
      : table(p.outer * p.extent * p.inner, test::Tensor::a, stream),
        index(DeviceBuffer<Index>::from_host(all_rows(p.extent), stream)),
        y(static_cast<std::size_t>(p.outer * p.count * p.inner)) {}
  static std::vector<Index> all_rows(std::int64_t rows) {
    std::vector<Index> result;
    for (std::int64_t i = 0; i < rows; ++i)
      result.push_back(static_cast<Index>(scattered(i, rows)));
    return result;
  }
  RandomData<T> table;
  DeviceBuffer<Index> index;
  DeviceBuffer<T> y;
};

template <class T, class Index, class Run>
Workload workload(std::string variant, const gather::Problem& p, Run run) {
  Stream stream;
  auto tensors = std::make_shared<Tensors<T, Index>>(p, stream);
  const auto source = [p](std::int64_t i) {
    const std::int64_t row = i / p.inner;
    return (row / p.count * p.extent + scattered(row % p.count, p.extent)) * p.inner + i % p.inner;
  };
  return {[=](Stream& s) { run(*tensors, s); }, [=](Stream& s) { tensors->y.poison(s); },
          [=](Stream& s) {
            return verify_moved(tensors->table, tensors->y, p.outer * p.count * p.inner, source, s);
          },
          std::move(variant)};
}

template <class T, class Index>
Case make_case(const gather::Problem& p) {
  Case result{Kind::memory, gather::work(dtype_of<T>, p, sizeof(Index)), {}};
  result.automatic = gather::name(gather::resolved(gather::Variant::automatic));
  for (const gather::Variant variant : gather::kVariants) {
    const std::string name(gather::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T, Index>(name, p, [=](const auto& t, Stream& s) {
                                   gather::run(t.table.data(), t.index.data(), t.y.data(), p,
                                               sizeof(T), variant, s);
                                 });
                               }});
  }
  for (const std::string_view variant : vendor::gather_variants(dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T, Index>(name, p, [=](const auto& t, Stream& s) {
                                   vendor::gather(name, dtype_of<T>, t.table.data(), t.index.data(),
                                                  sizeof(Index), t.y.data(),
                                                  {p.outer, p.extent, p.inner, p.count}, s);
                                 });
                               }});
  }
  return result;
}

template <class T>
Case make_case(bool wide, const gather::Problem& p) {
  return wide ? make_case<T, std::int64_t>(p) : make_case<T, std::int32_t>(p);
}

} // namespace

Operation gather_operation() {
  Operation operation{"gather", "layout", {Dtype::f32, Dtype::f16, Dtype::i8, Dtype::f64}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"i32_outer1_rows1024_inner128", true},
                        {"i64_outer2_rows64_inner513"},
                        {"i32_outer1_rows16384_inner1"}};
  else // a small one, and 256 MiB of traffic and more
    operation.shapes = {{"i32_outer1_rows1024_inner128"},
                        {"i32_outer1_rows1048576_inner256", true},
                        {"i64_outer4_rows65536_inner1025"},
                        {"i64_outer1_rows67108864_inner1"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const bool wide = shape.word({"i32", "i64"}) == 1;
    const std::int64_t rows = shape.number("rows");
    require(rows >= 4 && std::has_single_bit(static_cast<std::uint64_t>(rows)),
            "gather: rows is " + std::to_string(rows) + "; it must be a power of two from 4");
    const gather::Problem p{shape.number("outer"), rows, shape.number("inner"), rows};
    if (dtype == Dtype::i8) return make_case<std::int8_t>(wide, p);
    if (dtype == Dtype::f16) return make_case<f16>(wide, p);
    if (dtype == Dtype::f64) return make_case<double>(wide, p);
    return make_case<float>(wide, p);
  };
  return operation;
}

} // namespace kg::perf
