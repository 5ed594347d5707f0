// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A test of extension.cu.
#include <torch/extension.h>

torch::Tensor sum_of_rows(torch::Tensor x);

int main() {
  const auto x = torch::arange(3 * 200, torch::kFloat).view({3, 200});
  const auto sums = sum_of_rows(x.cuda());
  const bool right = torch::allclose(sums, torch::tensor({19900.f, 59900.f, 99900.f}));
  std::cout << (right ? "right" : "wrong") << '\n';
  return !right;
}
