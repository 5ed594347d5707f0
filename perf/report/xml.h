// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Text within XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace kg::report {

// For an attribute or text of XML 1.0, which has no way to write other control characters.
std::string escaped(std::string_view text);

} // namespace kg::report
