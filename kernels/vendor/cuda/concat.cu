// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/concat.h"

namespace kg::vendor {
namespace {

constexpr ConcatVariant kTable[] = {{"memcpy", nullptr}, {"thrust", nullptr}};

} // namespace

std::span<const ConcatVariant> concat_table() { return kTable; }

} // namespace kg::vendor
