// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the CUDA header of the same name: the constants that kernels use.
#pragma once

#include <limits>
#include <numbers>

inline constexpr float CUDART_INF_F = std::numeric_limits<float>::infinity();
inline constexpr float CUDART_NAN_F = std::numeric_limits<float>::quiet_NaN();
inline constexpr float CUDART_MAX_NORMAL_F = std::numeric_limits<float>::max();
inline constexpr float CUDART_MIN_DENORM_F = std::numeric_limits<float>::denorm_min();
inline constexpr float CUDART_NEG_ZERO_F = -0.0f;
inline constexpr float CUDART_ZERO_F = 0.0f;
inline constexpr float CUDART_ONE_F = 1.0f;
inline constexpr float CUDART_SQRT_TWO_F = std::numbers::sqrt2_v<float>;
inline constexpr float CUDART_SQRT_HALF_F = std::numbers::sqrt2_v<float> / 2;
inline constexpr float CUDART_PI_F = std::numbers::pi_v<float>;
inline constexpr float CUDART_L2E_F = std::numbers::log2e_v<float>;
inline constexpr float CUDART_LN2_F = std::numbers::ln2_v<float>;
inline constexpr double CUDART_INF = std::numeric_limits<double>::infinity();
inline constexpr double CUDART_NAN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double CUDART_NEG_ZERO = -0.0;
inline constexpr double CUDART_ZERO = 0.0;
inline constexpr double CUDART_ONE = 1.0;
inline constexpr double CUDART_SQRT_TWO = std::numbers::sqrt2;
inline constexpr double CUDART_PI = std::numbers::pi;
inline constexpr double CUDART_L2E = std::numbers::log2e;
inline constexpr double CUDART_LN2 = std::numbers::ln2;
