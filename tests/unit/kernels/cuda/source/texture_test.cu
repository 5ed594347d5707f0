// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Texture objects on arrays, pitched and linear memory.
#include <cuda_runtime.h>

#include <gtest/gtest.h>
#include <vector>

namespace {

constexpr int kWidth = 4, kHeight = 3;

template <class T>
__global__ void read_2d(cudaTextureObject_t texture, const float2* at, T* out) {
  out[threadIdx.x] = tex2D<T>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}
template <class T>
__global__ void read_1d(cudaTextureObject_t texture, const float2* at, T* out) {
  out[threadIdx.x] = tex1D<T>(texture, at[threadIdx.x].x);
}
__global__ void read_linear(cudaTextureObject_t texture, const float2* at, uchar4* out) {
  out[threadIdx.x] = tex1Dfetch<uchar4>(texture, static_cast<int>(at[threadIdx.x].x));
}

// What the kernel reads at these places; the texture is destroyed.
template <class T, class Kernel>
std::vector<T> read(Kernel kernel, cudaTextureObject_t texture, std::vector<float2> places) {
  float2* at = nullptr;
  T* out = nullptr;
  EXPECT_EQ(cudaMallocManaged(&at, places.size() * sizeof(float2)), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&out, places.size() * sizeof(T)), cudaSuccess);
  std::copy(places.begin(), places.end(), at);
  kernel<<<1, static_cast<int>(places.size())>>>(texture, at, out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<T> values(out, out + places.size());
  cudaFree(at);
  cudaFree(out);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  return values;
}

cudaTextureDesc description(cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                            bool normalized) {
  cudaTextureDesc how{};
  for (cudaTextureAddressMode& each : how.addressMode) each = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalized;
  return how;
}

// Texel (i, j) of the array is 10 j + i.
class Textures : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<float> values;
    for (int j = 0; j < kHeight; ++j)
      for (int i = 0; i < kWidth; ++i) values.push_back(10.0f * j + i);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    constexpr std::size_t kRow = kWidth * sizeof(float);
    ASSERT_EQ(cudaMallocArray(&array_, &format, kWidth, kHeight), cudaSuccess);
    ASSERT_EQ(cudaMemcpy2DToArray(array_, 0, 0, values.data(), kRow, kRow, kHeight,
                                  cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaFreeArray(array_), cudaSuccess); }

  cudaTextureObject_t texture(const cudaTextureDesc& how) const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    cudaTextureObject_t object = 0;
    EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaSuccess);
    return object;
  }
  std::vector<float> values(cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                            bool normalized, const std::vector<float2>& places) const {
    return read<float>(read_2d<float>, texture(description(mode, filter, normalized)), places);
  }

  cudaArray_t array_ = nullptr;
};
using Values = std::vector<float>;

TEST_F(Textures, PointsOutsideAreClampedOrBorder) {
  const std::vector<float2> places = {{0, 0}, {1.9f, 2.9f}, {-3, 1}, {99, 99}};
  EXPECT_EQ(values(cudaAddressModeClamp, cudaFilterModePoint, false, places),
            Values({0, 21, 10, 23}));
  EXPECT_EQ(values(cudaAddressModeWrap, cudaFilterModePoint, false, places),
            Values({0, 21, 10, 23}))
      << "only normalized coordinates wrap";
  EXPECT_EQ(values(cudaAddressModeBorder, cudaFilterModePoint, false, places),
            Values({0, 21, 0, 0}));
}

TEST_F(Textures, NormalizedCoordinatesWrapAndMirror) {
  const std::vector<float2> places = {{0.3f, 0.4f}, {1.3f, -0.6f}, {-0.1f, 0}};
  EXPECT_EQ(values(cudaAddressModeWrap, cudaFilterModePoint, true, places), Values({11, 11, 3}));
  EXPECT_EQ(values(cudaAddressModeMirror, cudaFilterModePoint, true, places), Values({11, 12, 0}));
}

TEST_F(Textures, LinearFiltering) {
  // Between the middles of texels; at the middle of one; beyond the last middle; weights of 8 bits.
  const std::vector<float2> places = {
      {1, 0.5f}, {1.5f, 1}, {2.5f, 1.5f}, {3.75f, 2.5f}, {0.5f + 1.0f / 1024, 0.5f}};
  EXPECT_EQ(values(cudaAddressModeClamp, cudaFilterModeLinear, false, places),
            Values({0.5f, 6, 12, 23, 0}));
  EXPECT_EQ(values(cudaAddressModeBorder, cudaFilterModeLinear, false, places),
            Values({0.5f, 6, 12, 17.25f, 0}));
  EXPECT_EQ(values(cudaAddressModeWrap, cudaFilterModeLinear, true, {{0, 0.5f / kHeight}}),
            Values({1.5f}));
}

TEST_F(Textures, OneDimension) {
  EXPECT_EQ(read<float>(read_1d<float>,
                        texture(description(cudaAddressModeClamp, cudaFilterModePoint, false)),
                        {{2.5f, 0}}),
            Values({2}));
}

TEST_F(Textures, CopiesBack) {
  float row[kWidth], rest[2];
  EXPECT_EQ(
      cudaMemcpy2DFromArray(row, sizeof row, array_, 0, 1, sizeof row, 1, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(row[3], 13);
  EXPECT_EQ(
      cudaMemcpyFromArray(rest, array_, 3 * sizeof(float), 0, sizeof rest, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(rest[0], 3);
  EXPECT_EQ(rest[1], 10) << "the next row's first";
}

TEST_F(Textures, WhatDoesNotFitIsRefused) {
  testing::internal::CaptureStderr();
  float value = 0;
  EXPECT_EQ(cudaMemcpy2DToArray(array_, 0, 0, &value, 20, 20, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToArray(array_, 0, kHeight, &value, 4, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  cudaTextureObject_t object = 0;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {&value, cudaCreateChannelDesc<int>(), 4};
  const cudaTextureDesc point = description(cudaAddressModeClamp, cudaFilterModePoint, false);
  EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &point, nullptr), cudaErrorInvalidValue)
      << "memory of the host";
  const cudaChannelFormatDesc three =
      cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  EXPECT_EQ(cudaMallocArray(&array, &three, 4, 4), cudaErrorInvalidChannelDescriptor);
  cudaGetLastError();
  testing::internal::GetCapturedStderr();
}

TEST(TextureMemory, PitchedAndLinear) {
  uchar4* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(&data, 16 * sizeof(uchar4)), cudaSuccess);
  for (int i = 0; i < 16; ++i)
    data[i] = make_uchar4(17 * i, 255 - 17 * i, 0, 255); // rows of 3 with a gap of 1
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {data, cudaCreateChannelDesc<uchar4>(), 3, 4, 4 * sizeof(uchar4)};
  cudaTextureDesc how = description(cudaAddressModeClamp, cudaFilterModeLinear, false);
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t object = 0;
  ASSERT_EQ(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaSuccess);
  const float4 texel = read<float4>(read_2d<float4>, object, {{2, 1.5f}})[0];
  EXPECT_FLOAT_EQ(texel.x, 5.5f * 17 / 255);
  EXPECT_FLOAT_EQ(texel.y, 1 - texel.x);
  EXPECT_EQ(texel.z, 0);
  EXPECT_EQ(texel.w, 1);

  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {data, cudaCreateChannelDesc<uchar4>(), 16 * sizeof(uchar4)};
  how = description(cudaAddressModeClamp, cudaFilterModePoint, false);
  ASSERT_EQ(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaSuccess);
  const std::vector<uchar4> bytes = read<uchar4>(read_linear, object, {{15, 0}, {16, 0}});
  EXPECT_EQ(bytes[0].x, 255);
  EXPECT_EQ(bytes[1].w, 0) << "behind the end";
  cudaFree(data);
}

__global__ void read_as_int(cudaTextureObject_t texture) { tex2D<int4>(texture, 0, 0); }

TEST_F(Textures, FetchesOfAnotherTypeAreTraps) {
  testing::internal::CaptureStderr();
  read_as_int<<<1, 1>>>(texture(description(cudaAddressModeClamp, cudaFilterModePoint, false)));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  const std::string report = kg::foreign::report();
  EXPECT_NE(report.find("4 channels of 4 bytes from a texture of 1"), std::string::npos) << report;
  cudaDeviceReset();
  testing::internal::GetCapturedStderr();
  SetUp();
}

} // namespace
