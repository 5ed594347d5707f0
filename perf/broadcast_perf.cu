// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of tensors of different shapes: a bias over rows, a number per channel, an outer sum, and a
// size where the launch counts.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "vendor/broadcast/broadcast.h"

#include "broadcast/broadcast.h"

#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

using broadcast::Op;

// Where element i of the result finds b's.
enum class Pattern { bias, channels, outer };

struct Problem {
  Pattern pattern;
  std::int64_t rows, cols; // channels: cols elements in each of `rows` images times channels
  std::int64_t channels = 1;

  std::vector<std::int64_t> a() const {
    switch (pattern) {
    case Pattern::bias: return {rows, cols};
    case Pattern::channels: return {rows / channels, channels, cols};
    case Pattern::outer: return {rows, 1};
    }
    return {};
  }
  std::vector<std::int64_t> b() const {
    return pattern == Pattern::channels ? std::vector<std::int64_t>{channels, 1}
                                        : std::vector<std::int64_t>{cols};
  }
  std::int64_t of_a(std::int64_t i) const { return pattern == Pattern::outer ? i / cols : i; }
  std::int64_t of_b(std::int64_t i) const {
    return pattern == Pattern::channels ? i / cols % channels : i % cols;
  }
  std::int64_t size() const { return rows * cols; }
  std::int64_t size_of_a() const { return pattern == Pattern::outer ? rows : size(); }
  std::int64_t size_of_b() const { return pattern == Pattern::channels ? channels : cols; }

  vendor::BroadcastShapes padded() const {
    vendor::BroadcastShapes shapes;
    shapes.a.fill(1);
    shapes.b.fill(1);
    const std::vector<std::int64_t> first = a();
    const std::vector<std::int64_t> second = b();
    std::copy(first.rbegin(), first.rend(), shapes.a.rbegin());
    std::copy(second.rbegin(), second.rend(), shapes.b.rbegin());
    return shapes;
  }
};

template <class T>
struct Arrays {
  Arrays(const Problem& problem, Stream& stream)
      : a(problem.size_of_a(), test::Tensor::a, stream),
        b(problem.size_of_b(), test::Tensor::b, stream),
        out(static_cast<std::size_t>(problem.size())) {}
  RandomData<T> a;
  RandomData<T> b;
  DeviceBuffer<T> out;
};

// Exact, since each element has one right value; large results through windows.
template <class T>
std::string verify(const Arrays<T>& arrays, const Problem& problem, Stream& stream) {
  for (const Window window : windows(problem.size(), 1 << 16)) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      a.push_back(test::to_double(arrays.a.at(problem.of_a(i))));
      b.push_back(test::to_double(arrays.b.at(problem.of_b(i))));
    }
    const auto expected = test::elementwise_oracle(test::BinaryOp::add, dtype_of<T>, a, b);
    const auto comparison = test::compare(observe(arrays.out, window, stream),
                                          test::exactly(dtype_of<T>, {window.count}, expected));
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, const Problem& problem, Run run) {
  Stream stream;
  auto arrays = std::make_shared<Arrays<T>>(problem, stream);
  return {[=](Stream& s) { run(*arrays, s); }, [=](Stream& s) { arrays->out.poison(s); },
          [=](Stream& s) { return verify(*arrays, problem, s); }, std::move(variant)};
}

template <class T>
Case make_case(const Problem& problem) {
  const std::vector<std::int64_t> of_a = problem.a();
  const std::vector<std::int64_t> of_b = problem.b();
  Case result{Kind::memory, broadcast::work(dtype_of<T>, of_a, of_b), {}};
  result.automatic = broadcast::name(broadcast::resolved(broadcast::Variant::automatic));
  for (const broadcast::Variant variant : broadcast::kVariants) {
    const std::string name(broadcast::name(variant));
    result.variants.push_back({name, false, [=] {
                                 return workload<T>(
                                     name, problem, [=](const Arrays<T>& x, Stream& s) {
                                       broadcast::run<T>(Op::add, x.a.data(), of_a, x.b.data(),
                                                         of_b, x.out.data(), variant, s);
                                     });
                               }});
  }
  const vendor::BroadcastShapes padded = problem.padded();
  for (const std::string_view variant :
       vendor::broadcast_variants(vendor::Binary::add, dtype_of<T>, padded)) {
    const std::string name(variant);
    result.variants.push_back(
        {name, true, [=] {
           return workload<T>(name, problem, [=](const Arrays<T>& x, Stream& s) {
             vendor::broadcast(name, vendor::Binary::add, dtype_of<T>, padded, x.a.data(),
                               x.b.data(), x.out.data(), s);
           });
         }});
  }
  return result;
}

Problem problem_of(const Shape& shape) {
  const auto pattern = static_cast<Pattern>(shape.word({"bias", "channels", "outer"}));
  if (pattern != Pattern::channels) return {pattern, shape.number("rows"), shape.number("cols")};
  const std::int64_t channels = shape.number("c");
  return {pattern, shape.number("n") * channels, shape.number("hw"), channels};
}

} // namespace

Operation broadcast_operation() {
  Operation operation{"broadcast", "elementwise", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {
        {"bias_rows128_cols1024", true}, {"channels_n2_c8_hw3136"}, {"outer_rows256_cols512"}};
  else // 512 MiB and more of traffic in all but the first
    operation.shapes = {{"bias_rows512_cols768"},
                        {"bias_rows65536_cols4096", true},
                        {"bias_rows1048577_cols197"},
                        {"channels_n64_c256_hw12544"},
                        {"outer_rows16384_cols16384"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const Problem problem = problem_of(shape);
    if (dtype == Dtype::f16) return make_case<f16>(problem);
    if (dtype == Dtype::bf16) return make_case<bf16>(problem);
    return make_case<float>(problem);
  };
  return operation;
}

} // namespace kg::perf
