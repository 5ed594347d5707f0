// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::normalization {

enum class Kind { rms, layer };

} // namespace kg::normalization
