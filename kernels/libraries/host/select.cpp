// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/select.h"

#include "libraries/host/thrust.h"
#include "primitives/words.h"

#include <thrust/copy.h>
#include <thrust/unique.h>

namespace kg::vendor {
namespace thrust_host {
namespace {

struct HasFlag {
  bool operator()(std::int8_t flag) const { return flag != 0; }
};

void select(const SelectProblem& problem, const void* x, const std::int8_t* flags, void* y,
            std::int32_t* count, Stream&) {
  with_word("kg::vendor::select", size_of(problem.dtype), [&](auto word) {
    const auto* from = static_cast<const decltype(word)*>(x);
    auto* to = static_cast<decltype(word)*>(y);
    const auto* end =
        problem.flagged
            ? thrust::copy_if(thrust::device, from, from + problem.n, flags, to, HasFlag{})
            : thrust::unique_copy(thrust::device, from, from + problem.n, to);
    *count = static_cast<std::int32_t>(end - to);
  });
}

} // namespace
} // namespace thrust_host

const Table<SelectVariant> select_table = {{"thrust", always, thrust_host::select}};

} // namespace kg::vendor
