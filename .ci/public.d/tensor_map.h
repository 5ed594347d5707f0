// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
// Tensor maps of matrices for the drivers of public kernels.
#pragma once

#include <cuda.h>

#include "product.h"

// A map of a row-major matrix of `rows` x `columns` elements, and boxes of `box_rows` x
// `box_columns`, with the swizzle of 128 bytes or none. Exits with 1 where the driver refuses it.
inline CUtensorMap tensor_map(void* data, CUtensorMapDataType type, int columns, int rows,
                              int box_columns, int box_rows, bool swizzled = true) {
  const cuuint64_t bytes = type == CU_TENSOR_MAP_DATA_TYPE_UINT8     ? 1
                           : type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4
                                                                     : 2;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {columns * bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found));
  CUtensorMap map;
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, type, 2, data, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", error);
    std::exit(1);
  }
  return map;
}
