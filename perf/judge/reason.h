// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kg::judge {

// What is wrong with the reason of a bless, for the words behind "--why "; empty: nothing, and so
// of no reason at all. A reason is a line of UTF-8 with a letter or a digit that can be seen.
std::string fault_of_reason(std::string_view reason);

} // namespace kg::judge
