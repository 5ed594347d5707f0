// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/libraries/recording_cublaslt.h"

#include "tests/unit/kernels/runtime/recording_cudart_model.h"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <cstddef>

namespace kg::recording {

Cublaslt& cublaslt() {
  static Cublaslt library;
  return library;
}

namespace {

cublasStatus_t called(const char* function) {
  ++cublaslt().calls[function];
  return CUBLAS_STATUS_SUCCESS;
}

template <class Handle>
cublasStatus_t created(const char* function, Handle* handle) {
  ++cublaslt().alive;
  *handle = reinterpret_cast<Handle>(&cublaslt());
  return called(function);
}

cublasStatus_t destroyed(const char* function) {
  --cublaslt().alive;
  return called(function);
}

} // namespace
} // namespace kg::recording

using kg::recording::called;
using kg::recording::created;
using kg::recording::cublaslt;
using kg::recording::destroyed;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&cublaslt());
  return called("cublasLtCreate");
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return called("cublasLtDestroy"); }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                        cudaDataType_t) {
  return created("cublasLtMatmulDescCreate", made);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  return descriptor ? destroyed("cublasLtMatmulDescDestroy") : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t) {
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE)
    cublaslt().epilogues.push_back(*static_cast<const cublasLtEpilogue_t*>(value));
  return called("cublasLtMatmulDescSetAttribute");
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType, std::uint64_t,
                                          std::uint64_t, std::int64_t) {
  return created("cublasLtMatrixLayoutCreate", made);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return layout ? destroyed("cublasLtMatrixLayoutDestroy") : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t,
                                                cublasLtMatrixLayoutAttribute_t, const void*,
                                                std::size_t) {
  return called("cublasLtMatrixLayoutSetAttribute");
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return created("cublasLtMatmulPreferenceCreate", made);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return destroyed("cublasLtMatmulPreferenceDestroy");
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return called("cublasLtMatmulPreferenceSetAttribute");
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int most,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  *found = std::min(most, static_cast<int>(cublaslt().algorithm_ns.size()));
  for (int i = 0; i < *found; ++i) {
    results[i] = {};
    results[i].algo.data[0] = static_cast<std::uint64_t>(i);
    results[i].state = CUBLAS_STATUS_SUCCESS;
  }
  return called("cublasLtMatmulAlgoGetHeuristic");
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*,
                              cublasLtMatrixLayout_t, const void*, cublasLtMatrixLayout_t,
                              const void*, const void*, cublasLtMatrixLayout_t, void*,
                              cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t* algorithm, void*,
                              std::size_t, cudaStream_t stream) {
  const auto number = static_cast<std::size_t>(algorithm->data[0]);
  const double ns = cublaslt().algorithm_ns.at(number);
  if (!(ns > 0)) return CUBLAS_STATUS_NOT_SUPPORTED;
  cublaslt().executed.push_back(static_cast<int>(number));
  kg::recording::model().enqueue(stream, {[] {}, ns});
  return called("cublasLtMatmul");
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(&cublaslt());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS"; }
const char* cublasGetStatusString(cublasStatus_t) { return "what it means"; }
cublasStatus_t cublasGemmEx_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, std::int64_t,
                               std::int64_t, std::int64_t, const void*, const void*, cudaDataType,
                               std::int64_t, const void*, cudaDataType, std::int64_t, const void*,
                               void*, cudaDataType, std::int64_t, cublasComputeType_t,
                               cublasGemmAlgo_t) {
  return called("cublasGemmEx_64");
}
cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                             std::int64_t, std::int64_t, std::int64_t, const void*,
                                             const void*, cudaDataType, std::int64_t, long long,
                                             const void*, cudaDataType, std::int64_t, long long,
                                             const void*, void*, cudaDataType, std::int64_t,
                                             long long, std::int64_t, cublasComputeType_t,
                                             cublasGemmAlgo_t) {
  return called("cublasGemmStridedBatchedEx_64");
}

} // extern "C"
