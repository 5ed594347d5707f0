// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of the largest element of all, of the rows and of the columns of a matrix.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "perf/thrust_note.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/oracle_rows.h"
#include "vendor/argmax/argmax.h"

#include "argmax/argmax.h"

#include <algorithm>
#include <memory>
#include <string>

namespace kg::perf {
namespace {

using reduction::Extents;

template <class T>
struct Searched {
  Searched(const Extents& extents, argmax::Variant variant, Stream& stream)
      : extents(extents), x(extents[0] * extents[1] * extents[2], test::Tensor::a, stream),
        out(static_cast<std::size_t>(extents[0] * extents[2])),
        workspace(argmax::workspace_bytes(reduction::packed<T>(nullptr, extents), variant)) {}
  Extents extents;
  RandomData<T> x;
  DeviceBuffer<std::int32_t> out;
  DeviceBuffer<unsigned char> workspace;
};

// Every result up to 2^24 elements; beyond, the first rows.
template <class T>
std::string verify(const Searched<T>& data, Stream& stream) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const auto [all, axis, inner] = data.extents;
  const std::int64_t outer = std::min(all, kMost / (axis * inner));
  if (outer == 0 || (outer < all && inner > 1)) return "";
  std::vector<double> x = data.x.values(0, outer * axis * inner);
  if (inner > 1) x = test::transpose_oracle(x, axis, inner); // outer is 1
  std::vector<double> expected;
  for (const std::int64_t index : test::row_maxima_oracle(x, outer * inner, axis).index)
    expected.push_back(static_cast<double>(index));
  const auto comparison = test::compare(observe(data.out, {0, outer * inner}, stream),
                                        test::exactly(Dtype::i32, {outer * inner}, expected));
  return comparison.passed() ? "" : comparison.text();
}

template <class T, class Run>
Workload workload(std::string name, const Extents& extents, argmax::Variant variant, Run run) {
  Stream stream;
  auto data = std::make_shared<Searched<T>>(extents, variant, stream);
  return {[=](Stream& s) { run(*data, s); }, [=](Stream& s) { data->out.poison(s); },
          [=](Stream& s) { return verify(*data, s); }, std::move(name)};
}

template <class T>
Case make_case(const Extents& extents) {
  // On the executor a warp's shuffles cost more than its loads; columns have none.
  Case result{extents[2] > 1 ? Kind::memory : Kind::sync, argmax::work(dtype_of<T>, extents), {}};
  result.automatic = argmax::name(argmax::resolved(argmax::Variant::automatic));
  for (const argmax::Variant variant : argmax::kVariants) {
    const std::string name(argmax::name(variant));
    result.variants.push_back(
        {name, false,
         [=] {
           return workload<T>(name, extents, variant, [=](const Searched<T>& d, Stream& s) {
             argmax::run(reduction::packed<T>(d.x.data(), extents), d.out.data(),
                         d.workspace.data(), variant, s);
           });
         },
         variant != argmax::Variant::naive ||
             is_timed_in_sequence(
                 reduction::chain(reduction::packed(static_cast<const T*>(nullptr), extents),
                                  reduction::Variant::naive))});
  }
  const vendor::ArgmaxProblem problem{dtype_of<T>, extents[0], extents[1], extents[2]};
  for (const std::string_view variant : vendor::argmax_variants(problem)) {
    const std::string name(variant);
    result.variants.push_back({name, true,
                               [=] {
                                 return workload<T>(name, extents, argmax::Variant::naive,
                                                    [=](const Searched<T>& d, Stream& s) {
                                                      vendor::argmax(name, problem, d.x.data(),
                                                                     d.out.data(), s);
                                                    });
                               },
                               true, thrust_note(name)});
  }
  return result;
}

} // namespace

Operation argmax_operation() {
  Operation operation{"argmax", "reduction", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"all_r512_c512", true}, {"rows_r256_c1024"}, {"columns_r512_c512"}};
  else // 1 GiB of f32 at 2^28 elements
    operation.shapes = {{"all_r1_c65536"},
                        {"all_r16384_c16384", true},
                        {"rows_r16384_c16384"},
                        {"columns_r16384_c16384"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    enum { all, rows, columns };
    const std::size_t kind = shape.word({"all", "rows", "columns"});
    const std::int64_t r = shape.number("r");
    const std::int64_t c = shape.number("c");
    const Extents extents = kind == all    ? Extents{1, r * c, 1}
                            : kind == rows ? Extents{r, c, 1}
                                           : Extents{1, r, c};
    if (dtype == Dtype::f16) return make_case<f16>(extents);
    if (dtype == Dtype::bf16) return make_case<bf16>(extents);
    return make_case<float>(extents);
  };
  return operation;
}

} // namespace kg::perf
