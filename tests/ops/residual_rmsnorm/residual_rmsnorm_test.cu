// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to residual_rmsnorm; its card configures those of every operation.
#include "ops/residual_rmsnorm/residual_rmsnorm.h"

#include "runtime/launch.h"
#include "tests/ops/normalization/forward_tests.h"

namespace kg::card {
namespace {

KG_OWN_TEST(Rows) {
  for (const auto& [rows, cols] : {std::pair{9, 300}, std::pair{5, 1300}})
    check_rows_are_independent(judge, rows_cols(rows, cols));
}
KG_OWN_TEST(Automatic) { norm::check_automatic(); }

// Indices beyond 32 bits, z and y in place. Sums of a number and zero, except three rows of +1 + 1
// and -1 - 1, which epsilon 12 normalizes to one half.
KG_OWN_TEST(MoreThan2To31Elements) {
  dispatch(judge.dtype(), [&]<class T>() {
    const Problem problem = norm::huge_problem(judge);
    const auto size = static_cast<std::size_t>(problem.outputs[0].size());
    KG_HUGE(2 * size * sizeof(T));
    constexpr unsigned char kByte = 0x3C; // a normal number of each type
    const T element = test::from_raw_bits<T>(0x3C3C3C3Cu & test::poison_bits(judge.dtype()));
    const double filled = test::to_double(element);
    const double right = filled / std::sqrt(filled * filled + 12);
    const T normalised =
        test::elements<T>(std::vector<double>{test::round_to(judge.dtype(), right)})[0];
    for (const Variant& variant : judge.card().variants) {
      if (!variant.supports(problem)) continue;
      const DeviceBuffer<T> x(size), residual(size);
      fill_bytes(x.data(), kByte, x.bytes(), judge.stream());
      fill_bytes(residual.data(), 0, residual.bytes(), judge.stream());
      for (const auto* const operand : {&x, &residual})
        test::put(norm::marks<T>(problem, 1.0), *operand, judge.stream());
      Call call(problem);
      call.bind("x", x.data());
      call.bind("residual", residual.data());
      call.bind("z", residual.data());
      call.bind("y", x.data());
      variant.run(call, judge.stream());
      EXPECT_TRUE(test::holds(residual, element, norm::marks<T>(problem, 2.0), judge.stream()))
          << variant.name;
      EXPECT_TRUE(test::holds(x, normalised, norm::marks<T>(problem, 0.5), judge.stream()))
          << variant.name;
    }
  });
}

KG_OWN_TEST(RefusesBothResultsInOnePlace) {
  const Problem problem = problem_of(judge.card(), judge.dtype(), {"nothing", "rows4_cols8"});
  const DeviceTensor x(problem.outputs[0], {}, 0), z(problem.outputs[0], {}, 0);
  const Problem bare = problem.without("gamma").without("rstd");
  Call call(bare);
  for (const char* const each : {"x", "residual"}) call.bind(each, x.data());
  for (const char* const each : {"z", "y"}) call.bind(each, z.data());
  LaunchRecorder recorder;
  EXPECT_THROW(judge.card().run_automatic(call, judge.stream()), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
