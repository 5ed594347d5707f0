// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/cuda/cublaslt.h"

#include "runtime/cuda/native.h"
#include "vendor/cuda/scratch.h"
#include "vendor/proposals.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kg::vendor::cublaslt {
namespace {

class Handle {
 public:
  Handle() { KG_CHECK(cublasLtCreate(&handle_)); }
  ~Handle() { cublasLtDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasLtHandle_t get() const { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

class Preference {
 public:
  Preference() { KG_CHECK(cublasLtMatmulPreferenceCreate(&preference_)); }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    KG_CHECK(cublasLtMatmulPreferenceSetAttribute(preference_, attribute, &value, sizeof value));
  }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

// The largest power of two that divides the address, as far as an algorithm asks.
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

} // namespace

Layout::Layout(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
               const Batch& batch) {
  require(batch.count <= std::numeric_limits<std::int32_t>::max(),
          "cuBLASLt: a batch of " + std::to_string(batch.count) +
              "; it takes at most 2^31 - 1 products");
  KG_CHECK(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), leading));
  const auto set = [this](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    KG_CHECK(cublasLtMatrixLayoutSetAttribute(layout_, attribute, &value, sizeof value));
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch.count));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch.stride);
}

Operation::Operation(cublasComputeType_t compute) {
  KG_CHECK(cublasLtMatmulDescCreate(&operation_, compute, CUDA_R_32F));
}

void multiply(const Operation& operation, const Product& product, Stream& stream) {
  constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20; // what cuBLAS takes on Hopper
  thread_local const Handle handle;
  Preference preference;
  preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(product.a));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(product.b));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(product.c));
  preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(product.c));
  constexpr int kMost = 8;
  std::vector<cublasLtMatmulHeuristicResult_t> ranked(kMost);
  int found = 0;
  check_support(cublasLtMatmulAlgoGetHeuristic(handle.get(), operation.get(),
                                               product.layout_a.get(), product.layout_b.get(),
                                               product.layout_c.get(), product.layout_c.get(),
                                               preference.get(), kMost, ranked.data(), &found),
                "the heuristic");
  ranked.resize(static_cast<std::size_t>(found));
  Proposals proposals(std::move(ranked), "cuBLASLt has no algorithm for this product");
  proposals.run([&](const cublasLtMatmulHeuristicResult_t& one) {
    check_support(one.state, "an algorithm");
    check_support(cublasLtMatmul(handle.get(), operation.get(), &product.alpha, product.a,
                                 product.layout_a.get(), product.b, product.layout_b.get(),
                                 &product.beta, product.c, product.layout_c.get(), product.c,
                                 product.layout_c.get(), &one.algo,
                                 scratch(one.workspaceSize, stream), one.workspaceSize,
                                 cuda::native(stream)),
                  "the product");
  });
}

} // namespace kg::vendor::cublaslt
