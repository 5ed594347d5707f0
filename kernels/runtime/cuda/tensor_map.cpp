// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps encoded by the driver. Its functions are looked up through the runtime, to avoid
// linking libcuda, which a machine without a GPU does not have.
#include "runtime/im2col_tensor.h"

#include "runtime/cuda/status.h"

#include <cstring>
#include <cuda.h> // types alone
#include <fmt/format.h>

static_assert(sizeof(CUtensorMap) == sizeof(kg::TensorMap));

namespace kg {
namespace {

template <class Function>
Function find(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  constexpr unsigned kSince = 12000; // the version that introduced both functions
  KG_CHECK(cudaGetDriverEntryPointByVersion(name, &function, kSince, cudaEnableDefault, &found));
#else
  KG_CHECK(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found));
#endif
  require(found == cudaDriverEntryPointSuccess && function != nullptr,
          std::string("the driver has no ") + name + "; install one of CUDA 12.0 or later");
  return reinterpret_cast<Function>(function);
}

CUtensorMapFloatOOBfill fill_of(const TiledTensor& t) {
  return t.fills_with_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                          : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

TensorMap checked(CUresult result, const char* name, const CUtensorMap& native,
                  const TiledTensor& t, Location where) {
  if (result != CUDA_SUCCESS)
    fail(fmt::format("{} failed with {} for a tensor of rank {}, {} x {} elements in its first "
                     "dimensions",
                     name, static_cast<int>(result), t.rank, t.extent[0], t.extent[1]),
         where);
  TensorMap map;
  std::memcpy(&map, &native, sizeof map);
  return map;
}

} // namespace

TensorMap encode(const TiledTensor& t, Location where) {
  validate(t, where);
  constexpr const char* kName = "cuTensorMapEncodeTiled";
  static const auto encode_tiled = find<decltype(&cuTensorMapEncodeTiled)>(kName);
  CUtensorMap native;
  const CUresult result = encode_tiled(
      &native, static_cast<CUtensorMapDataType>(t.type), t.rank, t.base, t.extent.data(),
      t.stride.data(), t.box.data(), t.element_stride.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      static_cast<CUtensorMapSwizzle>(t.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill_of(t));
  return checked(result, kName, native, t, where);
}

TensorMap encode(const Im2colTensor& tensor, Location where) {
  validate(tensor, where);
  constexpr const char* kName = "cuTensorMapEncodeIm2col";
  static const auto encode_im2col = find<decltype(&cuTensorMapEncodeIm2col)>(kName);
  const TiledTensor& t = tensor.image;
  CUtensorMap native;
  const CUresult result = encode_im2col(
      &native, static_cast<CUtensorMapDataType>(t.type), t.rank, t.base, t.extent.data(),
      t.stride.data(), tensor.lower.data(), tensor.upper.data(), t.box[0], tensor.pixels,
      t.element_stride.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      static_cast<CUtensorMapSwizzle>(t.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill_of(t));
  return checked(result, kName, native, t, where);
}

} // namespace kg
