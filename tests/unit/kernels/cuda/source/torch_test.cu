// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What launchers of PyTorch extensions use, without PyTorch. Values and messages are PyTorch's.
#include <gmock/gmock.h>
#include <torch/extension.h>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::vector<T> values(const torch::Tensor& tensor) {
  const torch::Tensor here = tensor.cpu().contiguous();
  return {here.data_ptr<T>(), here.data_ptr<T>() + here.numel()};
}

template <class Use>
std::string refusal(Use use) {
  try {
    use();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Torch, TensorsHaveSizesStridesAndOptions) {
  const int rows = 2;
  const auto x = torch::empty({rows, 3, 4}, torch::dtype(torch::kLong).device(torch::kCUDA));
  EXPECT_THAT(x.sizes().vec(), ElementsAre(2, 3, 4));
  EXPECT_THAT(x.strides().vec(), ElementsAre(12, 4, 1));
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.dtype(), torch::kInt64);
  EXPECT_TRUE(x.is_cuda() && x.device() == torch::Device("cuda:0"));
  EXPECT_EQ(x.device().type(), at::DeviceType::CUDA);
  EXPECT_TRUE(torch::zeros_like(x).sizes() == x.sizes());
  EXPECT_EQ(torch::zeros({2}).options().dtype(), torch::kFloat32);
  EXPECT_FALSE(torch::Tensor().defined());
}

TEST(Torch, ViewsShareTheElements) {
  const auto x = torch::arange(6).view({2, -1});
  EXPECT_THAT(values<std::int64_t>(x.t()), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_FALSE(x.t().is_contiguous());
  EXPECT_THAT(values<std::int64_t>(x.permute({1, 0})[2]), ElementsAre(2, 5));
  x.t()[1].fill_(9);
  EXPECT_THAT(values<std::int64_t>(x), ElementsAre(0, 9, 2, 3, 9, 5));
  x.narrow(1, 0, 2).copy_(torch::zeros({2, 2}));
  EXPECT_THAT(values<std::int64_t>(x.flatten()), ElementsAre(0, 0, 2, 0, 0, 5));
  EXPECT_THAT(x.unsqueeze(-1).sizes().vec(), ElementsAre(2, 3, 1));
}

TEST(Torch, CopiesConvertAndGoToTheDevice) {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ(torch::full({1}, 2.75, torch::kInt).item<int>(), 2);
  EXPECT_EQ(torch::tensor({large}).cuda().cpu().item<std::int64_t>(), large);
  const auto half = torch::tensor({0.1f, -65519.f, 65520.f}).cuda().to(torch::kHalf);
  EXPECT_THAT(values<float>(half.to(torch::kFloat)),
              ElementsAre(0.0999755859375f, -65504.f, INFINITY));
  EXPECT_THAT(values<float>(torch::tensor({1.005859375f}).to(torch::kBFloat16).to(torch::kFloat)),
              ElementsAre(1.0078125f));
}

// PyTorch's half computes with float in float, and with itself and integers in half.
TEST(Torch, HalvesCompute) {
  const at::Half a = 2049.f, b = 3;
  static_assert(std::is_same_v<decltype(a * b), at::Half>);
  static_assert(std::is_same_v<decltype(a * 2), at::Half>);
  static_assert(std::is_same_v<decltype(a * 2.f), float>);
  static_assert(std::is_same_v<decltype(2.0 * a), double>);
  EXPECT_EQ(static_cast<float>(a), 2048.f);
  EXPECT_EQ(static_cast<float>(a > b ? a : a * b), 2048.f);
  EXPECT_EQ(a + 1.f, 2049.f);
  at::BFloat16 sum = 1;
  sum += at::BFloat16(3);
  EXPECT_EQ(static_cast<float>(-sum), -4.f);
}

template <typename scalar_t>
__global__ void twice(scalar_t* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] + x[i];
}
torch::Tensor twice_of(torch::Tensor x) {
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::kBFloat16, x.scalar_type(), "twice", ([&] {
        twice<scalar_t>
            <<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<scalar_t>(), x.numel());
      }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("twice", torch::wrap_pybind_function(twice_of), "doubles", py::arg("x") = 1);
}
TORCH_LIBRARY(samples, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(samples, CUDA, m) { m.impl("twice", &twice_of); }

TEST(Torch, DispatchRunsTheKernelOfTheType) {
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16})
    EXPECT_THAT(values<float>(twice_of(torch::ones({3}, type).cuda()).to(torch::kFloat)),
                ElementsAre(2, 2, 2))
        << type;
  EXPECT_THAT(refusal([] { twice_of(torch::ones({3}, torch::kInt).cuda()); }),
              HasSubstr("\"twice\" not implemented for 'Int'"));
}

__global__ void
transposed(const torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> from,
           torch::PackedTensorAccessor64<float, 2> to) {
  const int i = threadIdx.x, j = threadIdx.y;
  if (i < from.size(0) && j < from.size(1)) to[j][i] = from[i][j];
}
TEST(Torch, KernelsIndexByAccessors) {
  const auto x = torch::arange(6, torch::kFloat).view({2, 3});
  const auto y = torch::empty({2, 3}, torch::device(torch::kCUDA));
  transposed<<<1, dim3(4, 4)>>>(x.cuda().packed_accessor32<float, 2, torch::RestrictPtrTraits>(),
                                y.t().packed_accessor64<float, 2>());
  EXPECT_THAT(values<float>(y), ElementsAre(0, 1, 2, 3, 4, 5));
  const auto old = x.packed_accessor<float, 2, torch::RestrictPtrTraits, std::size_t>();
  EXPECT_EQ(old[1][2], 5);
  const auto columns = x.t();
  const auto here = columns.accessor<float, 2>();
  EXPECT_EQ(here[2][1], 5);
  EXPECT_THAT(refusal([&] { x.accessor<float, 1>(); }), HasSubstr("1 dimensions for [2, 3]"));
}

TEST(Torch, TensorsAreJoinedMultipliedAndSummed) {
  const auto a = torch::arange(6, torch::kFloat).view({2, 3}).cuda(); // 0 1 2, 3 4 5
  const auto b = torch::arange(4, torch::kFloat).view({2, 2}).cuda(); // 0 1, 2 3
  EXPECT_THAT(values<float>(torch::cat({a, b}, 1)), ElementsAre(0, 1, 2, 0, 1, 3, 4, 5, 2, 3));
  EXPECT_THAT(values<float>(torch::cat({b, b.t()})), ElementsAre(0, 1, 2, 3, 0, 2, 1, 3));
  EXPECT_THAT(values<float>(b.mm(a)), ElementsAre(3, 4, 5, 9, 14, 19));
  EXPECT_THAT(values<float>(a.t().mm(b)), ElementsAre(6, 9, 8, 13, 10, 17));
  const auto bias = torch::arange(3, torch::kFloat).cuda();
  EXPECT_THAT(values<float>(torch::addmm(bias, b, a)), ElementsAre(3, 5, 7, 9, 15, 21));
  EXPECT_THAT(values<float>(torch::addmm(a, b, a)), ElementsAre(3, 5, 7, 12, 18, 24));
  EXPECT_THAT(values<float>(a.sum(0)), ElementsAre(3, 5, 7));
  EXPECT_EQ(a.sum(-1, true).sizes(), torch::IntArrayRef({2, 1}));
  EXPECT_THAT(values<float>(a.sum(-1, true)), ElementsAre(3, 12));
  EXPECT_THAT(values<float>(a.slice(1, 1)), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(values<float>(a.slice(1, -2, -1)), ElementsAre(1, 4));
  EXPECT_EQ(a.slice(0, 1, 9).size(0), 1);
  const auto cube = torch::zeros({2, 3, 4});
  EXPECT_EQ(cube.flatten(1).sizes(), torch::IntArrayRef({2, 12}));
  EXPECT_EQ(cube.flatten(0, 1).sizes(), torch::IntArrayRef({6, 4}));
  EXPECT_THAT(refusal([&] { a.mm(b); }), HasSubstr("mm: [2, 3] by [2, 2]"));
  EXPECT_THAT(refusal([&] { torch::cat({a, b}, 0); }), HasSubstr("copy_ of [2, 2] to [2, 3]"));
  EXPECT_THAT(refusal([&] { torch::addmm(b, b, a); }),
              HasSubstr("addmm: a bias of [2, 2] for [2, 3]"));
}

TEST(Torch, MistakesAreRefused) {
  const auto x = torch::zeros({2, 3});
  EXPECT_THAT(refusal([&] { x.data_ptr<int>(); }),
              HasSubstr("expected scalar type Int but found Float"));
  EXPECT_THAT(refusal([&] { x.size(2); }),
              HasSubstr("a tensor of 2 dimensions has no dimension 2"));
  EXPECT_THAT(refusal([&] { x.view({4, -1}); }), HasSubstr("no view [4, -1] of [2, 3]"));
  EXPECT_THAT(refusal([&] { x.t().view({6}); }), HasSubstr("not contiguous; use reshape"));
  EXPECT_THAT(refusal([&] { x.narrow(1, 2, 2); }), HasSubstr("narrow: 2 and 2 of 3"));
  EXPECT_THAT(refusal([&] { x.copy_(torch::zeros({3})); }), HasSubstr("copy_ of [3] to [2, 3]"));
  EXPECT_THAT(refusal([&] { x.item<float>(); }), HasSubstr("item() of 6 elements"));
  EXPECT_THAT(refusal([] { torch::Device("cuda:1"); }), HasSubstr("there is no device cuda:1"));
  EXPECT_THAT(refusal([&] { TORCH_CHECK(x.is_cuda(), "expected ", 1, " on the GPU"); }),
              HasSubstr("expected 1 on the GPU"));
  EXPECT_THAT(refusal([&] { TORCH_CHECK(x.is_cuda()); }), HasSubstr("expected x.is_cuda()"));
}

} // namespace
