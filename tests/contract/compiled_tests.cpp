// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/compiled_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "tests/oracle/numbers.h"

#if !KG_BACKEND_CUDA
#include "runtime/ptx/library.h"
#endif

namespace kg::card {
namespace {

// During its lifetime, kernels run as g++ compiled them.
class AsSource {
 public:
#if !KG_BACKEND_CUDA
  AsSource() { ptx_run::use(""); }
  ~AsSource() { ptx_run::use(std::getenv("KERNELGRADE_PTX")); }
#endif
};

// How two results differ, as text; empty if all bits match.
std::string difference(const test::Observed& compiled, const test::Observed& source) {
  std::size_t count = 0;
  double most = 0;
  for (std::size_t i = 0; i < source.bits.size(); ++i) {
    if (compiled.bits[i] == source.bits[i]) continue;
    ++count;
    const double apart = std::fabs(compiled.values[i] - source.values[i]);
    most = std::max(most, apart / test::ulp(source.dtype, source.values[i]));
  }
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(source.bits.size()) +
         " elements have other bits, up to " + std::to_string(most) + " units in the last place";
}

} // namespace

bool runs_compiled_kernels() {
#if KG_BACKEND_CUDA
  return false;
#else
  return ptx_run::enabled();
#endif
}

void same_bits_as_source(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  for (const Variant& variant : judge.card().variants) {
    if (!variant.supports(problem)) continue;
    const Outcome compiled = judge.run(variant, problem, inputs);
    [[maybe_unused]] const AsSource scope;
    const Outcome source = judge.run(variant, problem, inputs);
    for (const auto& [name, output] : source.outputs) {
      const std::string other = difference(compiled.outputs.at(name), output);
      const std::string_view why = judge.card().bit_difference_reason;
      if (!why.empty() && !other.empty())
        fmt::print("note: {} {} {}: {} ({})\n", variant.name, problem.shape, name, other, why);
      else
        EXPECT_EQ(other, "")
            << variant.name << " " << problem.shape << " " << name
            << ": nvcc's code and g++'s differ, and the descriptor does not say why "
               "(bit_difference_reason)";
    }
  }
}

} // namespace kg::card
