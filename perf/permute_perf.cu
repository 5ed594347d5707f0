// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Permuting axes: images from channels first to channels last and back, and the heads of attention,
// whose rows stay whole.
#include "perf/measure/moved_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "vendor/permute/permute.h"

#include "permute/permute.h"

#include <memory>
#include <string>

namespace kg::perf {
namespace {

using permute::Permutation;

template <class T>
struct Tensors {
  Tensors(std::int64_t size, Stream& stream)
      : x(size, test::Tensor::a, stream), y(static_cast<std::size_t>(size)) {}
  RandomData<T> x;
  DeviceBuffer<T> y;
};

// Where element i of y comes from.
std::int64_t source_of(const Permutation& p, std::int64_t i) {
  std::array<std::int64_t, permute::kMaxRank> coordinate{};
  for (int d = p.rank - 1; d >= 0; --d) {
    coordinate[p.order[d]] = i % p.shape[p.order[d]];
    i /= p.shape[p.order[d]];
  }
  std::int64_t place = 0;
  for (int d = 0; d < p.rank; ++d) place = place * p.shape[d] + coordinate[d];
  return place;
}

template <class T, class Run>
Workload workload(std::string variant, const Permutation& p, Run run) {
  Stream stream;
  std::int64_t size = 1;
  for (int d = 0; d < p.rank; ++d) size *= p.shape[d];
  auto tensors = std::make_shared<Tensors<T>>(size, stream);
  const auto source = [p](std::int64_t i) { return source_of(p, i); };
  return {[=](Stream& s) { run(*tensors, s); }, [=](Stream& s) { tensors->y.poison(s); },
          [=](Stream& s) { return verify_moved(tensors->x, tensors->y, size, source, s); },
          std::move(variant)};
}

template <class T>
Case make_case(const Permutation& p) {
  Case result{Kind::memory, permute::work(dtype_of<T>, p), {}};
  result.automatic = permute::name(permute::resolved(permute::Variant::automatic));
  for (const permute::Variant variant : permute::kVariants) {
    const std::string name(permute::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(name, p, [=](const auto& t, Stream& s) {
                                   permute::run<T>(t.x.data(), t.y.data(), p, variant, s);
                                 });
                               }});
  }
  for (const std::string_view variant : vendor::permute_variants(dtype_of<T>)) {
    const std::string name(variant);
    const auto rank = static_cast<std::size_t>(p.rank);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(name, p, [=](const auto& t, Stream& s) {
                                   vendor::permute(name, dtype_of<T>, {p.shape.data(), rank},
                                                   {p.order.data(), rank}, t.x.data(), t.y.data(),
                                                   s);
                                 });
                               }});
  }
  return result;
}

// x is n x a x b x c in all: (channels, height, width), (height, width, channels), or (positions,
// heads, features).
Permutation permutation_of(const Shape& shape) {
  constexpr std::array<std::array<int, permute::kMaxRank>, 3> kOrders = {
      {{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3}}};
  Permutation result;
  result.rank = 4;
  result.order = kOrders[shape.word({"nhwc", "nchw", "heads"})];
  result.shape = {shape.number("n"), shape.number("a"), shape.number("b"), shape.number("c")};
  return result;
}

} // namespace

Operation permute_operation() {
  Operation operation{"permute", "layout", {Dtype::f32, Dtype::f16, Dtype::i8, Dtype::f64}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {
        {"nhwc_n2_a64_b28_c32", true}, {"nchw_n1_a128_b128_c3"}, {"heads_n2_a32_b12_c64"}};
  else // a small one, and 512 MiB and more of traffic
    operation.shapes = {{"nhwc_n8_a64_b56_c56"},
                        {"nhwc_n128_a256_b56_c56", true},
                        {"nchw_n128_a56_b56_c256"},
                        {"nhwc_n1024_a3_b224_c224"},
                        {"heads_n64_a2048_b16_c128"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Permutation permutation = permutation_of(shape);
    if (dtype == Dtype::i8) return make_case<std::int8_t>(permutation);
    if (dtype == Dtype::f16) return make_case<f16>(permutation);
    if (dtype == Dtype::f64) return make_case<double>(permutation);
    return make_case<float>(permutation);
  };
  return operation;
}

} // namespace kg::perf
