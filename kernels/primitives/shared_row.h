// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A row of f32 in shared memory.
#pragma once

#include "primitives/row.h"

namespace kg {

// A thread's packs in shared memory. A pack of 8 floats is stored as two halves, with all first
// halves before all second ones, so neighbouring threads access neighbouring 16 bytes without bank
// conflicts. A thread reads only what it wrote, so no barrier is needed.
template <int Count>
class SharedRow {
 public:
  __device__ SharedRow(float* data, std::int64_t packs) : data_(data), packs_(packs) {}

  __device__ void put(std::int64_t pack, const Floats<Count>& values) {
    KG_UNROLL
    for (int part = 0; part < kParts; ++part) {
      Pack<float, kWidth> raw;
      KG_UNROLL
      for (int e = 0; e < kWidth; ++e) raw.element[e] = values.value[part * kWidth + e];
      *place(part, pack) = raw;
    }
  }
  __device__ __forceinline__ Floats<Count> get(std::int64_t pack) const {
    Floats<Count> values;
    KG_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const Pack<float, kWidth> raw = *place(part, pack);
      KG_UNROLL
      for (int e = 0; e < kWidth; ++e) values.value[part * kWidth + e] = raw.element[e];
    }
    return values;
  }

 private:
  static constexpr int kWidth = Count < 4 ? Count : 4;
  static constexpr int kParts = Count / kWidth;

  __device__ Pack<float, kWidth>* place(int part, std::int64_t pack) const {
    return reinterpret_cast<Pack<float, kWidth>*>(data_) + (part * packs_ + pack);
  }

  float* data_;
  std::int64_t packs_;
};

} // namespace kg
