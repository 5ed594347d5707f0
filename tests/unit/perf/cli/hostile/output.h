// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What must never stand in an output, whatever the input: each function returns the first fault, or
// nothing. They know the sinks' rules, not the functions under test.
#pragma once

#include <string>
#include <string_view>

namespace kg::hostile {

std::string fault_of_console(std::string_view text);
std::string fault_of_markdown(std::string_view text);
std::string fault_of_xml(std::string_view text);
std::string fault_of_csv(std::string_view text);
std::string fault_of_annotations(std::string_view text);
std::string fault_of_html(std::string_view text);

// By the file's name.
std::string fault_of_file(const std::string& name, std::string_view text);

} // namespace kg::hostile
