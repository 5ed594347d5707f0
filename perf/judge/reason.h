// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kg::judge {

// What is wrong with the reason given to `bless --why`, to follow "--why "; empty if nothing, or if
// `reason` is empty. A reason is one line of UTF-8 with at least one visible letter or digit.
std::string fault_of_reason(std::string_view reason);

} // namespace kg::judge
