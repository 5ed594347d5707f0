// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pieces of JUnit's XML.
#pragma once

#include <string>
#include <string_view>

namespace kg::report {

// For an attribute or text of XML 1.0, which has no way to write other control characters.
std::string escaped(std::string_view text);

// A <property> of a test case.
std::string property(std::string_view name, double value);
std::string property(std::string_view name, std::string_view value);

// What a test case with that exit code holds beside its properties: a <failure>, a <skipped>, or
// nothing.
std::string outcome(int exit_code, std::string_view type, std::string_view message);

} // namespace kg::report
