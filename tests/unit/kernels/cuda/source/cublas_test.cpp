// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS by OpenBLAS against loops that one can read.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <gmock/gmock.h>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Small integers, so that every sum is exact in every type.
template <class T>
std::vector<T> numbers(int n, int seed) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    values[static_cast<std::size_t>(i)] =
        static_cast<T>(static_cast<float>((i * 7 + seed) % 5 - 2));
  return values;
}

template <class T>
class Device {
 public:
  explicit Device(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    EXPECT_EQ(cudaMalloc(&data_, bytes_), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~Device() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  operator T*() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> back(bytes_ / sizeof(T));
    EXPECT_EQ(cudaMemcpy(back.data(), data_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
    return back;
  }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

class Cublas : public testing::Test {
 protected:
  Cublas() { EXPECT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS); }
  ~Cublas() override { EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS); }

  // Its status, and what it said.
  template <class Call>
  static std::pair<cublasStatus_t, std::string> said(Call call) {
    testing::internal::CaptureStderr();
    const cublasStatus_t status = call();
    return {status, testing::internal::GetCapturedStderr()};
  }

  cublasHandle_t handle_ = nullptr;
};

constexpr int kM = 3, kN = 4, kK = 5, kLda = 6, kLdb = 7, kLdc = 5;

// C = 2 op(A) op(B) + 3 C, column by column.
template <class T>
std::vector<T> expected(cublasOperation_t op_a, cublasOperation_t op_b, const std::vector<T>& a,
                        const std::vector<T>& b, std::vector<T> c) {
  const auto at = [](const std::vector<T>& matrix, int ld, int row, int column) {
    return static_cast<double>(
        static_cast<float>(matrix[static_cast<std::size_t>(row + column * ld)]));
  };
  for (int j = 0; j < kN; ++j) {
    for (int i = 0; i < kM; ++i) {
      double sum = 0;
      for (int k = 0; k < kK; ++k) {
        sum += (op_a == CUBLAS_OP_N ? at(a, kLda, i, k) : at(a, kLda, k, i)) *
               (op_b == CUBLAS_OP_N ? at(b, kLdb, k, j) : at(b, kLdb, j, k));
      }
      T& element = c[static_cast<std::size_t>(i + j * kLdc)];
      element = static_cast<T>(static_cast<float>(2 * sum + 3 * at(c, kLdc, i, j)));
    }
  }
  return c;
}

template <class T>
bool equal(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T, class Gemm>
void expect_products(Gemm gemm) {
  for (cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      const auto a = numbers<T>(kLda * 6, 1), b = numbers<T>(kLdb * 6, 2),
                 c = numbers<T>(kLdc * kN, 3);
      const Device<T> on_a(a), on_b(b), on_c(c);
      EXPECT_EQ(gemm(op_a, op_b, on_a, on_b, on_c), CUBLAS_STATUS_SUCCESS);
      EXPECT_TRUE(equal(on_c.values(), expected(op_a, op_b, a, b, c))) << op_a << op_b;
    }
  }
}

TEST_F(Cublas, Products) {
  expect_products<float>([&](auto op_a, auto op_b, float* a, float* b, float* c) {
    const float alpha = 2, beta = 3;
    return cublasSgemm(handle_, op_a, op_b, kM, kN, kK, &alpha, a, kLda, b, kLdb, &beta, c, kLdc);
  });
  expect_products<double>([&](auto op_a, auto op_b, double* a, double* b, double* c) {
    const double alpha = 2, beta = 3;
    return cublasDgemm(handle_, op_a, op_b, kM, kN, kK, &alpha, a, kLda, b, kLdb, &beta, c, kLdc);
  });
  expect_products<__half>([&](auto op_a, auto op_b, __half* a, __half* b, __half* c) {
    const __half alpha = 2.0f, beta = 3.0f;
    return cublasHgemm(handle_, op_a, op_b, kM, kN, kK, &alpha, a, kLda, b, kLdb, &beta, c, kLdc);
  });
}

TEST_F(Cublas, ProductsByTypesNamedAtRunTime) {
  const float alpha = 2, beta = 3;
  expect_products<__nv_bfloat16>([&](auto op_a, auto op_b, void* a, void* b, void* c) {
    return cublasGemmEx(handle_, op_a, op_b, kM, kN, kK, &alpha, a, CUDA_R_16BF, kLda, b,
                        CUDA_R_16BF, kLdb, &beta, c, CUDA_R_16BF, kLdc, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  });
  expect_products<__half>([&](auto op_a, auto op_b, void* a, void* b, void* c) {
    return cublasGemmEx(handle_, op_a, op_b, kM, kN, kK, &alpha, a, CUDA_R_16F, kLda, b, CUDA_R_16F,
                        kLdb, &beta, c, CUDA_R_16F, kLdc, CUDA_R_32F, CUBLAS_GEMM_DFALT);
  });
  expect_products<__half>([&](auto op_a, auto op_b, void* a, void* b, void* c) {
    const __half by = 2.0f, plus = 3.0f;
    return cublasGemmEx(handle_, op_a, op_b, kM, kN, kK, &by, a, CUDA_R_16F, kLda, b, CUDA_R_16F,
                        kLdb, &plus, c, CUDA_R_16F, kLdc, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
  });
  expect_products<double>([&](auto op_a, auto op_b, void* a, void* b, void* c) {
    const double by = 2, plus = 3;
    return cublasGemmEx(handle_, op_a, op_b, kM, kN, kK, &by, a, CUDA_R_64F, kLda, b, CUDA_R_64F,
                        kLdb, &plus, c, CUDA_R_64F, kLdc, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT);
  });
}

// f16 in, f32 out; beta = 0 does not read C.
TEST_F(Cublas, MixedTypesAndAnUnreadSum) {
  const Device<__half> a({1.0f, 2.0f}), b({3.0f, 4.0f});
  const Device<float> c({NAN});
  const float alpha = 1, beta = 0;
  EXPECT_EQ(cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &alpha, a, CUDA_R_16F, 2, b,
                         CUDA_R_16F, 2, &beta, c, CUDA_R_32F, 1, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(c.values(), ElementsAre(11));
}

TEST_F(Cublas, Batches) {
  const Device<double> a({1, 2, 3, 4}), b({5, 6, 7, 8}), c({0, 0, 0, 0});
  const double alpha = 1, beta = 0;
  EXPECT_EQ(cublasDgemmStridedBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, a, 1, 1,
                                      b, 1, 1, &beta, c, 1, 1, 4),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(c.values(), ElementsAre(5, 12, 21, 32));
  const Device<const double*> as({a + 1, a + 3}), bs({b, b});
  const Device<double*> cs({c, c + 2});
  EXPECT_EQ(cublasDgemmBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, as, 1, bs, 1,
                               &beta, cs, 1, 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(c.values(), ElementsAre(10, 12, 20, 32));
}

TEST_F(Cublas, Vectors) {
  const Device<float> x({1, 2, -3}), y({10, 20, 30});
  const Device<int> index({0});
  const float two = 2;
  float result = 0;
  int largest = 0;
  EXPECT_EQ(cublasSaxpy(handle_, 3, &two, x, 1, y, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(y.values(), ElementsAre(12, 24, 24));
  EXPECT_EQ(cublasSdot(handle_, 3, x, 1, y, 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 12 + 48 - 72);
  EXPECT_EQ(cublasSasum(handle_, 3, x, 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 6);
  EXPECT_EQ(cublasIsamax(handle_, 3, x, 1, &largest), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(largest, 3); // counted from 1
  EXPECT_EQ(cublasSscal(handle_, 2, &two, x, 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(x.values(), ElementsAre(2, 2, -6));
  EXPECT_EQ(cublasSswap(handle_, 3, x, 1, y, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(x.values(), ElementsAre(12, 24, 24));
  EXPECT_EQ(cublasScopy(handle_, 3, x, 1, y, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(y.values(), ElementsAre(12, 24, 24));
  const Device<double> z({3, 4});
  double norm = 0;
  EXPECT_EQ(cublasDnrm2(handle_, 2, z, 1, &norm), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(norm, 5);
}

TEST_F(Cublas, MatricesWithVectors) {
  const Device<double> a({1, 2, 3, 4, 5, 6}), x({1, -1, 2}), y({1, 1}); // 2 x 3
  const double alpha = 2, beta = 3;
  EXPECT_EQ(cublasDgemv(handle_, CUBLAS_OP_N, 2, 3, &alpha, a, 2, x, 1, &beta, y, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(y.values(), ElementsAre(2 * (1 - 3 + 10) + 3, 2 * (2 - 4 + 12) + 3));
  EXPECT_EQ(cublasDgemv(handle_, CUBLAS_OP_T, 2, 3, &alpha, a, 2, y, 1, &beta, x, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(x.values(), ElementsAre(2 * (19 + 46) + 3, 2 * (57 + 92) - 3, 2 * (95 + 138) + 6));
  const Device<double> u({1, 2}), v({3, 4}), outer({0, 0, 0, 0}), sum({0, 0, 0, 0});
  EXPECT_EQ(cublasDger(handle_, 2, 2, &alpha, u, 1, v, 1, outer, 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(outer.values(), ElementsAre(6, 12, 8, 16));
  EXPECT_EQ(cublasDgeam(handle_, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &alpha, outer, 2, &beta, outer, 2,
                        sum, 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(sum.values(), ElementsAre(30, 52, 48, 80));
}

TEST_F(Cublas, VectorsAndMatricesGoThereAndBack) {
  const float host[6] = {1, 2, 3, 4, 5, 6};
  float back[6] = {};
  const Device<float> device(std::vector<float>(6, 0));
  EXPECT_EQ(cublasSetVector(3, 4, host, 2, device, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetVector(3, 4, device, 1, back, 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(back, ElementsAre(1, 0, 3, 0, 5, 0));
  EXPECT_EQ(cublasSetMatrix(2, 2, 4, host, 3, device, 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetMatrix(2, 2, 4, device, 2, back, 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(back, ElementsAre(1, 2, 4, 5, 5, 0));
}

TEST_F(Cublas, Handles) {
  int version = 0;
  EXPECT_EQ(cublasGetVersion(handle_, &version), CUBLAS_STATUS_SUCCESS);
  EXPECT_GE(version, 130000);
  cudaStream_t stream, set = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cublasSetStream(handle_, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetStream(handle_, &set), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(set, stream);
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_DEVICE;
  EXPECT_EQ(cublasGetPointerMode(handle_, &mode), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(mode, CUBLAS_POINTER_MODE_HOST);
  EXPECT_EQ(cublasSetMathMode(handle_, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_SUCCESS);
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  EXPECT_EQ(cublasGetMathMode(handle_, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(math, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(cublasSetAtomicsMode(handle_, CUBLAS_ATOMICS_ALLOWED), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSetWorkspace(handle_, nullptr, 0), CUBLAS_STATUS_SUCCESS);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
  EXPECT_STREQ(cublasGetStatusString(CUBLAS_STATUS_SUCCESS), "success");
  cublasLtHandle_t light;
  EXPECT_EQ(cublasLtCreate(&light), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtDestroy(light), CUBLAS_STATUS_SUCCESS);
}

TEST_F(Cublas, ResultsOnTheDevice) {
  const Device<float> x({3, 4}), norm({0});
  EXPECT_EQ(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSnrm2(handle_, 2, x, 1, norm), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(norm.values(), ElementsAre(5));
  float host = 0;
  EXPECT_EQ(said([&] { return cublasSnrm2(handle_, 2, x, 1, &host); }).first,
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Cublas, Refusals) {
  const Device<float> a({1, 2, 3, 4});
  const float one = 1;
  float host[4] = {};
  const auto product = [&](cublasHandle_t handle, int m, int lda, const float* from) {
    return said([&] {
      return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, 2, 2, &one, from, lda, a, 2, &one, a,
                         2);
    });
  };
  EXPECT_EQ(product(nullptr, 2, 2, a).first, CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_THAT(product(handle_, 2, 1, a).second, HasSubstr("less than its matrix's rows"));
  EXPECT_EQ(product(handle_, -1, 2, a).first, CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_THAT(product(handle_, 2, 2, host).second,
              HasSubstr("cublasSgemm: A 0x")); // the host's memory
  EXPECT_THAT(product(handle_, 2, 3, a).second, HasSubstr("16 bytes left of 16"));
  EXPECT_EQ(said([&] {
              return cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, CUDA_R_8I, 1,
                                  a, CUDA_R_8I, 1, &one, a, CUDA_R_32I, 1, CUBLAS_COMPUTE_32I,
                                  CUBLAS_GEMM_DEFAULT);
            }).first,
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(said([&] { return cublasSaxpy(handle_, 2, &one, a, 0, a, 1); }).first,
            CUBLAS_STATUS_INVALID_VALUE);
}

} // namespace
