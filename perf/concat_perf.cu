// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Concatenating four parts of different extents, and splitting them again: rows of whole packs, and
// rows that no shift aligns.
#include "perf/measure/moved_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "vendor/concat/concat.h"

#include "concat/concat.h"

#include <array>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

constexpr int kParts = 4;

struct Extents {
  std::int64_t outer, inner;
  std::array<std::int64_t, kParts> part; // along the axis
  std::int64_t cols(int p) const { return part[static_cast<std::size_t>(p)] * inner; }
  std::int64_t first(int p) const { return p == 0 ? 0 : first(p - 1) + cols(p - 1); }
  std::int64_t whole_cols() const { return first(kParts - 1) + cols(kParts - 1); }
  concat::Problem view() const { return {outer, inner, part}; }
};

// The parts lie one behind the other in one array.
template <class T>
struct Tensors {
  Tensors(const Extents& e, Stream& stream)
      : extents(e), from(e.outer * e.whole_cols(), test::Tensor::a, stream),
        to(static_cast<std::size_t>(e.outer * e.whole_cols())) {}
  // Where each part begins.
  template <class Pointer>
  std::array<Pointer, kParts> parts(T* base) const {
    std::array<Pointer, kParts> result;
    for (int p = 0; p < kParts; ++p)
      result[static_cast<std::size_t>(p)] = base + extents.outer * extents.first(p);
    return result;
  }
  Extents extents;
  RandomData<T> from;
  DeviceBuffer<T> to;
};

// Where element i of the whole lies among the parts, and back.
std::int64_t place_in_parts(const Extents& e, std::int64_t i) {
  const std::int64_t col = i % e.whole_cols();
  int p = 0;
  while (p + 1 < kParts && col >= e.first(p + 1)) ++p;
  return e.outer * e.first(p) + i / e.whole_cols() * e.cols(p) + col - e.first(p);
}
std::int64_t place_in_whole(const Extents& e, std::int64_t i) {
  int p = 0;
  while (p + 1 < kParts && i >= e.outer * e.first(p + 1)) ++p;
  const std::int64_t in_part = i - e.outer * e.first(p);
  return in_part / e.cols(p) * e.whole_cols() + e.first(p) + in_part % e.cols(p);
}

template <class T, class Run>
Workload workload(std::string variant, concat::Op op, const Extents& e, Run run) {
  Stream stream;
  auto tensors = std::make_shared<Tensors<T>>(e, stream);
  const auto source = [e, op](std::int64_t i) {
    return op == concat::Op::concat ? place_in_parts(e, i) : place_in_whole(e, i);
  };
  return {[=](Stream& s) { run(*tensors, s); }, [=](Stream& s) { tensors->to.poison(s); },
          [=](Stream& s) {
            return verify_moved(tensors->from, tensors->to, e.outer * e.whole_cols(), source, s);
          },
          std::move(variant)};
}

template <class T>
void run_ours(const Tensors<T>& t, concat::Op op, concat::Variant variant, Stream& stream) {
  if (op == concat::Op::concat) {
    const auto parts = t.template parts<const void*>(t.from.data());
    concat::run_concat(parts, t.to.data(), t.extents.view(), sizeof(T), variant, stream);
  } else {
    const auto parts = t.template parts<void*>(t.to.data());
    concat::run_split(t.from.data(), parts, t.extents.view(), sizeof(T), variant, stream);
  }
}

template <class T>
void run_vendor(const Tensors<T>& t, concat::Op op, const std::string& variant, Stream& stream) {
  const vendor::ConcatShape shape{t.extents.outer, t.extents.inner, t.extents.part};
  if (op == concat::Op::concat) {
    const auto parts = t.template parts<const void*>(t.from.data());
    vendor::concat(variant, dtype_of<T>, parts, t.to.data(), shape, stream);
  } else {
    const auto parts = t.template parts<void*>(t.to.data());
    vendor::split(variant, dtype_of<T>, t.from.data(), parts, shape, stream);
  }
}

template <class T>
Case make_case(concat::Op op, const Extents& e) {
  Case result{Kind::memory, concat::work(dtype_of<T>, e.view()), {}};
  result.automatic = concat::name(concat::resolved(concat::Variant::automatic));
  for (const concat::Variant variant : concat::kVariants) {
    const std::string name(concat::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(name, op, e, [=](const auto& t, Stream& s) {
                                   run_ours(t, op, variant, s);
                                 });
                               }});
  }
  for (const std::string_view variant : vendor::concat_variants(dtype_of<T>)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, op, e, [=](const auto& t, Stream& s) {
                                   run_vendor(t, op, name, s);
                                 });
                               }});
  }
  return result;
}

} // namespace

Operation concat_operation() {
  Operation operation{"concat", "layout", {Dtype::f32, Dtype::f16, Dtype::i8, Dtype::f64}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"concat_outer64_e8_inner64", true},
                        {"split_outer64_e8_inner64"},
                        {"concat_outer32_e18_inner33"}};
  else // a small one, and 512 MiB and more of traffic
    operation.shapes = {{"concat_outer64_e8_inner64"},
                        {"concat_outer4096_e256_inner64", true},
                        {"split_outer4096_e256_inner64"},
                        {"concat_outer4096_e258_inner65"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const concat::Op op = concat::kOps[shape.word({"concat", "split"})];
    const std::int64_t e = shape.number("e");
    const Extents extents{shape.number("outer"), shape.number("inner"), {e, 2 * e, e / 2, e / 2}};
    if (dtype == Dtype::i8) return make_case<std::int8_t>(op, extents);
    if (dtype == Dtype::f16) return make_case<f16>(op, extents);
    if (dtype == Dtype::f64) return make_case<double>(op, extents);
    return make_case<float>(op, extents);
  };
  return operation;
}

} // namespace kg::perf
