// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Texture objects over an array, pitched and linear memory: filtered, normalized, signed, clamped
// and outside. With -DRACE a thread writes the memory that others fetch from. With -DWRONG_TYPE
// floats are fetched from integers.
#include <cstdio>
#include <cstring>

constexpr int kWidth = 8, kHeight = 4;

struct Fetched {
  float middle, between, left_of_all;
  uchar4 bytes;
  uchar4 outside;
  short2 shorts;
  float normalized;
};

__global__ void fetch(cudaTextureObject_t grid, cudaTextureObject_t bytes,
                      cudaTextureObject_t shorts, cudaTextureObject_t unit, unsigned char* memory,
                      Fetched* out) {
  const int i = static_cast<int>(threadIdx.x);
  Fetched f;
  f.middle = tex2D<float>(grid, i % kWidth + 0.5f, i / kWidth + 0.5f);
  f.between = tex2D<float>(grid, i % kWidth + 1.0f, i / kWidth + 1.0f);
  f.left_of_all = tex2D<float>(grid, -5.0f, 0.5f);
  f.bytes = tex1Dfetch<uchar4>(bytes, i);
  f.outside = tex1Dfetch<uchar4>(bytes, 32 + i);
  f.shorts = tex2D<short2>(shorts, i % kWidth + 0.5f, i / kWidth + 0.5f);
  f.normalized = tex2D<float>(unit, (i % kWidth + 0.5f) / kWidth, (i / kWidth + 0.5f) / kHeight);
#ifdef WRONG_TYPE
  f.middle = tex1Dfetch<float>(bytes, i);
#endif
#ifdef RACE
  if (i == 31) memory[0] = 1;
#endif
  out[i] = f;
}

float at(int column, int row) {
  column = column < kWidth ? column : kWidth - 1;
  row = row < kHeight ? row : kHeight - 1;
  return static_cast<float>(10 * row + column);
}

int main() {
  float grid[kHeight][kWidth];
  unsigned char bytes[128];
  short2 shorts[kHeight][kWidth];
  unsigned char units[kHeight][kWidth];
  for (int i = 0; i < 128; ++i) bytes[i] = static_cast<unsigned char>(200 - i);
  for (int row = 0; row < kHeight; ++row)
    for (int column = 0; column < kWidth; ++column) {
      grid[row][column] = at(column, row);
      shorts[row][column] = {static_cast<short>(-1000 * row - column), static_cast<short>(column)};
      units[row][column] = static_cast<unsigned char>(5 * (row * kWidth + column));
    }

  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &floats, kWidth, kHeight);
  cudaMemcpy2DToArray(array, 0, 0, grid, sizeof grid[0], sizeof grid[0], kHeight,
                      cudaMemcpyHostToDevice);
  unsigned char *linear = nullptr, *pitched = nullptr, *unit = nullptr;
  std::size_t pitch = 0, unit_pitch = 0;
  cudaMalloc(&linear, sizeof bytes);
  cudaMemcpy(linear, bytes, sizeof bytes, cudaMemcpyHostToDevice);
  cudaMallocPitch(&pitched, &pitch, sizeof shorts[0], kHeight);
  cudaMemcpy2D(pitched, pitch, shorts, sizeof shorts[0], sizeof shorts[0], kHeight,
               cudaMemcpyHostToDevice);
  cudaMallocPitch(&unit, &unit_pitch, kWidth, kHeight);
  cudaMemcpy2D(unit, unit_pitch, units, kWidth, kWidth, kHeight, cudaMemcpyHostToDevice);

  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t objects[4] = {};
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {linear, cudaCreateChannelDesc<uchar4>(), sizeof bytes};
  cudaCreateTextureObject(&objects[1], &resource, &how, nullptr);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pitched, cudaCreateChannelDesc<short2>(), kWidth, kHeight, pitch};
  cudaCreateTextureObject(&objects[2], &resource, &how, nullptr);
  how.readMode = cudaReadModeNormalizedFloat;
  how.normalizedCoords = 1;
  resource.res.pitch2D = {unit, cudaCreateChannelDesc<unsigned char>(), kWidth, kHeight,
                          unit_pitch};
  cudaCreateTextureObject(&objects[3], &resource, &how, nullptr);
  how.readMode = cudaReadModeElementType;
  how.normalizedCoords = 0;
  how.filterMode = cudaFilterModeLinear;
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaCreateTextureObject(&objects[0], &resource, &how, nullptr);

  Fetched* out = nullptr;
  cudaMalloc(&out, 32 * sizeof(Fetched));
  fetch<<<1, 32>>>(objects[0], objects[1], objects[2], objects[3], linear, out);
  Fetched got[32];
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaGetLastError();
  bool right = true;
  for (int i = 0; i < 32; ++i) {
    const int column = i % kWidth, row = i / kWidth;
    right &= got[i].middle == at(column, row);
    right &=
        got[i].between ==
        (at(column, row) + at(column + 1, row) + at(column, row + 1) + at(column + 1, row + 1)) / 4;
    right &= got[i].left_of_all == 0;
    right &= std::memcmp(&got[i].bytes, bytes + 4 * i, 4) == 0;
    right &= got[i].outside.x == 0 && got[i].outside.w == 0;
    right &= got[i].shorts.x == shorts[row][column].x && got[i].shorts.y == column;
    right &= got[i].normalized == static_cast<float>(units[row][column]) / 255;
  }
  for (cudaTextureObject_t object : objects) cudaDestroyTextureObject(object);
  cudaFreeArray(array);
  for (void* memory : {static_cast<void*>(linear), static_cast<void*>(pitched),
                       static_cast<void*>(unit), static_cast<void*>(out)})
    cudaFree(memory);
  std::printf("%s, %s\n", right ? "right" : "WRONG", cudaGetErrorName(error));
  return right && error == cudaSuccess ? 0 : 1;
}
