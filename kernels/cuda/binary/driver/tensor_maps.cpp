// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps in the format that the emulator reads (runtime/host/tensor_map.h).
#include "cuda/binary/driver/call.h"
#include "runtime/host/tensor_map.h"

#include <cstring>

static_assert(sizeof(CUtensorMap) == sizeof(kg::TensorMap));

using namespace kg::emulate;

namespace {

// What both kinds of map have. Refuses what is not executed, and what cannot be read.
kg::host::TiledTensor tensor_of(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* base, const cuuint64_t* extents, const cuuint64_t* strides,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill,
                                cuuint32_t least_rank) {
  demand_pointer(map, "tensorMap");
  demand_pointer(extents, "globalDim");
  demand_pointer(element_strides, "elementStrides");
  if (rank > 1) demand_pointer(strides, "globalStrides");
  demand(reinterpret_cast<std::uintptr_t>(map) % alignof(kg::TensorMap) == 0,
         CUDA_ERROR_INVALID_VALUE, "tensorMap is not aligned to 64 bytes");
  demand(rank >= least_rank && rank <= kg::host::kMaxTensorRank, CUDA_ERROR_INVALID_VALUE,
         "tensorRank is " + std::to_string(rank) + "; it is " + std::to_string(least_rank) +
             " to 5");
  demand(type <= CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
         CUDA_ERROR_NOT_SUPPORTED, "types that flush subnormals are not executed");
  demand(interleave == CU_TENSOR_MAP_INTERLEAVE_NONE, CUDA_ERROR_NOT_SUPPORTED,
         "interleaved tensors are not executed");
  demand(swizzle <= CU_TENSOR_MAP_SWIZZLE_128B, CUDA_ERROR_NOT_SUPPORTED,
         "swizzles of atoms above 16 bytes are not executed");
  demand(fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, CUDA_ERROR_INVALID_VALUE,
         "oobFill is " + std::to_string(fill) + "; it is 0 or 1");
  kg::host::TiledTensor tensor;
  tensor.type = static_cast<kg::host::TensorType>(type);
  tensor.rank = rank;
  tensor.base = base;
  for (unsigned i = 0; i < rank; ++i) {
    tensor.extent[i] = extents[i];
    if (i > 0) tensor.stride[i - 1] = strides[i - 1];
    tensor.element_stride[i] = element_strides[i];
  }
  tensor.swizzle = static_cast<kg::host::Swizzle>(swizzle);
  tensor.fills_with_nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  return tensor;
}

template <class Tensor>
void write(CUtensorMap* map, const Tensor& tensor) {
  try {
    const kg::TensorMap made = kg::host::encode(tensor);
    std::memcpy(map, &made, sizeof made);
  } catch (const kg::Error& error) {
    refuse(CUDA_ERROR_INVALID_VALUE, error.what());
  }
}

} // namespace

// The functions need neither cuInit nor a context, because runtime API programs also call them.

KG_DRIVER cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* base, const cuuint64_t* extents, const cuuint64_t* strides,
                                 const cuuint32_t* box, const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  return code_of(kg::foreign::call("cuTensorMapEncodeTiled", [&] {
    demand_pointer(box, "boxDim");
    kg::host::TiledTensor tensor = tensor_of(map, type, rank, base, extents, strides,
                                             element_strides, interleave, swizzle, fill, 1);
    for (unsigned i = 0; i < rank; ++i) tensor.box[i] = box[i];
    write(map, tensor);
  }));
}

KG_DRIVER cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                  void* base, const cuuint64_t* extents, const cuuint64_t* strides,
                                  const int* lower, const int* upper, cuuint32_t channels,
                                  cuuint32_t pixels, const cuuint32_t* element_strides,
                                  CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                  CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  return code_of(kg::foreign::call("cuTensorMapEncodeIm2col", [&] {
    demand_pointer(lower, "pixelBoxLowerCorner");
    demand_pointer(upper, "pixelBoxUpperCorner");
    kg::host::Im2colTensor tensor;
    tensor.image = tensor_of(map, type, rank, base, extents, strides, element_strides, interleave,
                             swizzle, fill, 3);
    tensor.image.box = {channels, 1, 1, 1, 1};
    tensor.pixels = pixels;
    for (unsigned axis = 0; axis < tensor.axes(); ++axis) {
      tensor.lower[axis] = lower[axis];
      tensor.upper[axis] = upper[axis];
    }
    write(map, tensor);
  }));
}
