// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps encoded by the driver. Its function is looked up through the runtime, to avoid
// linking libcuda, which a machine without a GPU does not have.
#include "runtime/tiled_tensor.h"

#include "runtime/cuda/status.h"

#include <cstring>
#include <cuda.h> // types alone
#include <fmt/format.h>

static_assert(sizeof(CUtensorMap) == sizeof(kg::TensorMap));

namespace kg {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode find_encode() {
  constexpr const char* kName = "cuTensorMapEncodeTiled";
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  constexpr unsigned kSince = 12000; // the version that introduced the function
  KG_CHECK(cudaGetDriverEntryPointByVersion(kName, &function, kSince, cudaEnableDefault, &found));
#else
  KG_CHECK(cudaGetDriverEntryPoint(kName, &function, cudaEnableDefault, &found));
#endif
  require(found == cudaDriverEntryPointSuccess && function != nullptr,
          std::string("the driver has no ") + kName + "; install one of CUDA 12.0 or later");
  return reinterpret_cast<Encode>(function);
}

} // namespace

TensorMap encode(const TiledTensor& t, Location where) {
  validate(t, where);
  static const Encode encode_tiled = find_encode();
  CUtensorMap native;
  const CUresult result = encode_tiled(
      &native, static_cast<CUtensorMapDataType>(t.type), t.rank, t.base, t.extent.data(),
      t.stride.data(), t.box.data(), t.element_stride.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      static_cast<CUtensorMapSwizzle>(t.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      t.fills_with_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                       : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    fail(fmt::format("cuTensorMapEncodeTiled failed with {} for a tensor of rank {}, {} x {} "
                     "elements in its first dimensions",
                     static_cast<int>(result), t.rank, t.extent[0], t.extent[1]),
         where);
  TensorMap map;
  std::memcpy(&map, &native, sizeof map);
  return map;
}

} // namespace kg
