// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// scale: y[i] = a * x[i], rounded once. y may be x. NaN propagates, subnormals are kept.
#pragma once

#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>

namespace kg::scale {

enum class Variant { automatic, naive };
inline constexpr Variant kVariants[] = {Variant::naive};
constexpr Variant resolved(Variant) { return Variant::naive; } // `automatic` selects naive
using kg::name;

// Enqueues the operation on n elements and returns the variant that runs. Throws Error on a
// negative n, a null pointer, or a y that overlaps x in part.
Variant run(float a, const float* x, float* y, std::int64_t n, Variant variant, Stream& stream);

// One read, one write and one multiplication per element.
Work work(std::int64_t n);

} // namespace kg::scale
