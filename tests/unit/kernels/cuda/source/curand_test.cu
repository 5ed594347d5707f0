// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuRAND's generators. The integers are those that cuRAND's own header gives for these states.
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <gmock/gmock.h>
#include <vector>

namespace {

using testing::ElementsAre;

template <class State>
std::vector<unsigned> drawn(unsigned long long seed, unsigned long long subsequence,
                            unsigned long long offset) {
  State state;
  curand_init(seed, subsequence, offset, &state);
  return {curand(&state), curand(&state), curand(&state)};
}

TEST(Curand, XorwowDrawsWhatCurandDraws) {
  EXPECT_THAT(drawn<curandStateXORWOW_t>(0, 0, 0),
              ElementsAre(3179217846u, 1883133293u, 2220552389u));
  EXPECT_THAT(drawn<curandStateXORWOW_t>(1234, 1, 5),
              ElementsAre(75263415u, 1929890176u, 3433179576u));
  EXPECT_THAT(drawn<curandStateXORWOW_t>(0xdeadbeefcafef00dULL, 7, 1000003),
              ElementsAre(102141402u, 3129385597u, 372842361u));
  EXPECT_THAT(drawn<curandStateXORWOW_t>(0xdeadbeefcafef00dULL, 0x123456789, 0x100000001),
              ElementsAre(2691807518u, 397272659u, 259284259u));
}
TEST(Curand, PhiloxDrawsWhatCurandDraws) {
  EXPECT_THAT(drawn<curandStatePhilox4_32_10_t>(0, 0, 0),
              ElementsAre(1713891541u, 3781805453u, 3159862348u));
  EXPECT_THAT(drawn<curandStatePhilox4_32_10_t>(1234, 1, 5),
              ElementsAre(1698527859u, 495137217u, 2264860335u));
  EXPECT_THAT(drawn<curandStatePhilox4_32_10_t>(0xdeadbeefcafef00dULL, 7, 1000003),
              ElementsAre(2541415795u, 2707282797u, 137474411u));
  EXPECT_THAT(drawn<curandStatePhilox4_32_10_t>(0xdeadbeefcafef00dULL, 0x123456789, 0x100000001),
              ElementsAre(2904747565u, 2093393240u, 2118574196u));
}

// To the places that are compared, what cuRAND makes of the numbers that follow.
TEST(Curand, RealNumbers) {
  curandStateXORWOW_t x;
  curandStatePhilox4_32_10_t p;
  curand_init(0, 0, 0, &x);
  curand_init(0, 0, 0, &p);
  for (int i = 0; i < 9; ++i) {
    curand(&x);
    curand(&p);
  }
  EXPECT_NEAR(curand_normal_double(&x), -0.066666, 1e-6);
  EXPECT_NEAR(curand_normal(&p), 1.1698, 1e-4);
  EXPECT_NEAR(curand_normal(&x), -0.9007, 1e-4);
  EXPECT_NEAR(curand_normal(&x), -0.6274, 1e-4); // the second of a pair
  EXPECT_NEAR(curand_uniform_double(&p), 0.271746987, 1e-9);
  EXPECT_NEAR(curand_uniform_double(&x), 0.338856141, 1e-9);
  EXPECT_NEAR(curand_uniform(&p), 0.787368, 1e-6);
  EXPECT_NEAR(curand_uniform(&x), 0.761389, 1e-6);
  const uint4 four = curand4(&p);
  EXPECT_THAT((std::vector<unsigned>{four.x, four.y, four.z, four.w}),
              ElementsAre(1782871206u, 2596868943u, 1832992260u, 4013802324u));
}

TEST(Curand, SkippingIsDrawing) {
  curandStateXORWOW_t drawing, skipping;
  curandStatePhilox4_32_10_t drawing4, skipping4;
  curand_init(5, 1, 0, &drawing);
  curand_init(5, 1, 0, &skipping);
  curand_init(5, 1, 0, &drawing4);
  curand_init(5, 1, 0, &skipping4);
  for (int i = 0; i < 1001; ++i) {
    curand(&drawing);
    curand(&drawing4);
  }
  skipahead(1001, &skipping);
  skipahead(1001, &skipping4);
  EXPECT_EQ(curand(&skipping), curand(&drawing));
  EXPECT_EQ(curand(&skipping4), curand(&drawing4));
  curand_init(5, 4, 0, &drawing);
  curand_init(5, 1, 0, &skipping);
  skipahead_sequence(3, &skipping);
  EXPECT_EQ(curand(&skipping), curand(&drawing));
}

__global__ void estimate(int* inside, int draws) {
  curandState state;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(17, i, 0, &state);
  int hits = 0;
  for (int k = 0; k < draws; ++k) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    hits += x * x + y * y <= 1;
  }
  atomicAdd(inside, hits);
}

TEST(Curand, InKernels) {
  int *inside, count = 0;
  ASSERT_EQ(cudaMalloc(&inside, sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMemset(inside, 0, sizeof(int)), cudaSuccess);
  estimate<<<2, 64>>>(inside, 1000);
  ASSERT_EQ(cudaMemcpy(&count, inside, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_NEAR(4.0 * count / 128000, 3.1416, 0.02);
  EXPECT_EQ(cudaFree(inside), cudaSuccess);
}

TEST(Curand, OnTheHost) {
  constexpr int kN = 10000;
  curandGenerator_t generator;
  float* numbers;
  ASSERT_EQ(cudaMallocManaged(&numbers, kN * sizeof(float)), cudaSuccess);
  ASSERT_EQ(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(curandSetPseudoRandomGeneratorSeed(generator, 7), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(curandGenerateNormal(generator, numbers, kN, 3, 2), CURAND_STATUS_SUCCESS);
  double mean = 0, square = 0;
  for (int i = 0; i < kN; ++i) {
    mean += numbers[i] / kN;
    square += (numbers[i] - 3.0) * (numbers[i] - 3.0) / kN;
  }
  EXPECT_NEAR(mean, 3, 0.1);
  EXPECT_NEAR(square, 4, 0.25);
  EXPECT_EQ(curandGenerateUniform(generator, numbers, kN), CURAND_STATUS_SUCCESS);
  const float first = numbers[0];
  EXPECT_GT(*std::min_element(numbers, numbers + kN), 0);
  EXPECT_LE(*std::max_element(numbers, numbers + kN), 1);
  EXPECT_EQ(curandSetGeneratorOffset(generator, kN), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(curandGenerateUniform(generator, numbers, 1), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(numbers[0], first);
  EXPECT_EQ(curandGenerateNormal(generator, numbers, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  float host;
  EXPECT_EQ(curandGenerateUniform(generator, &host, 1), CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32), CURAND_STATUS_TYPE_ERROR);
  ASSERT_EQ(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_XORWOW), CURAND_STATUS_SUCCESS);
  unsigned bits[2] = {};
  double real = 0;
  EXPECT_EQ(curandGenerate(generator, bits, 2), CURAND_STATUS_SUCCESS);
  EXPECT_NE(bits[0], bits[1]);
  EXPECT_EQ(curandGenerateUniformDouble(generator, &real, 1), CURAND_STATUS_SUCCESS);
  EXPECT_GT(real, 0);
  EXPECT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(cudaFree(numbers), cudaSuccess);
}

} // namespace
