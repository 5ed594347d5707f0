// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cublaslt.h"

#include "libraries/cuda/owned.h"
#include "libraries/cuda/scratch.h"
#include "libraries/cuda/time_of.h"
#include "runtime/cuda/native.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kg::vendor::cublaslt {
namespace {

class Preference : public Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceCreate,
                                cublasLtMatmulPreferenceDestroy> {
 public:
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    KG_CHECK(cublasLtMatmulPreferenceSetAttribute(get(), attribute, &value, sizeof value));
  }
};

// The largest power of two, up to 256, that divides the address; algorithms require no more.
std::uint32_t alignment(const void* data) {
  constexpr std::uintptr_t kMost = 256;
  const auto address = reinterpret_cast<std::uintptr_t>(data) | kMost;
  return static_cast<std::uint32_t>(address & -address);
}

void check_support(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = std::string("cuBLASLt, ") + what + ": " + describe(status).text;
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) throw NotSupported(text);
  fail(text);
}

cublasLtHandle_t handle() {
  thread_local const Owned<cublasLtHandle_t, cublasLtCreate, cublasLtDestroy> handle("cuBLASLt");
  return handle.get();
}

// The heuristic's algorithms, best first.
Proposals<cublasLtMatmulHeuristicResult_t> proposals_for(const Operation& operation,
                                                         const Operands& o) {
  constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20; // as cuBLAS uses on Hopper
  Preference preference;
  preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(o.a));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(o.b));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(o.c));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(o.c));
  constexpr int kMost = 8;
  std::vector<cublasLtMatmulHeuristicResult_t> ranked(kMost);
  int found = 0;
  check_support(cublasLtMatmulAlgoGetHeuristic(handle(), operation.get(), o.layout_a.get(),
                                               o.layout_b.get(), o.layout_c.get(), o.layout_c.get(),
                                               preference.get(), kMost, ranked.data(), &found),
                "the heuristic");
  ranked.resize(static_cast<std::size_t>(found));
  return {std::move(ranked), "cuBLASLt has no algorithm for this product"};
}

} // namespace

Layout::Layout(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
               const Batch& batch) {
  require(batch.count <= std::numeric_limits<std::int32_t>::max(),
          "cuBLASLt: a batch of " + std::to_string(batch.count) +
              "; it takes at most 2^31 - 1 matrix products");
  KG_CHECK(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), leading));
  const auto set = [this](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    KG_CHECK(cublasLtMatrixLayoutSetAttribute(layout_, attribute, &value, sizeof value));
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch.count));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch.stride);
}

Operation::Operation(cublasComputeType_t compute, cudaDataType scalars) {
  KG_CHECK(cublasLtMatmulDescCreate(&operation_, compute, scalars));
}

Product::Product(Operation operation, Operands operands)
    : operation_(std::move(operation)), operands_(std::move(operands)),
      proposals_(proposals_for(operation_, operands_)) {}

Product::Product(Product&& other) noexcept = default;
Product::~Product() = default;

void Product::multiply(Math math, Stream& stream) {
  const Operands& o = operands_;
  const auto call = [&](const cublasLtMatmulHeuristicResult_t& one) {
    check_support(one.state, "an algorithm");
    check_support(cublasLtMatmul(handle(), operation_.get(), &o.alpha, o.a, o.layout_a.get(), o.b,
                                 o.layout_b.get(), &o.beta, o.c, o.layout_c.get(), o.c,
                                 o.layout_c.get(), &one.algo, scratch(one.workspaceSize, stream),
                                 one.workspaceSize, cuda::native(stream)),
                  "the product");
  };
  if (math == Math::fastest && o.beta == 0)
    proposals_.run_fastest(call, TimeOn(stream));
  else
    proposals_.run(call);
}

} // namespace kg::vendor::cublaslt
