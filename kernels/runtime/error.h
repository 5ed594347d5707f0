// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors of the runtime and of the libraries below it: one exception type, one macro for status
// codes, one function for preconditions. Every message names its source location and includes the
// library's own error text, if any.
#pragma once

#include <stdexcept>
#include <string>

namespace kg {

// A call site. A parameter `Location where = Location::here()` captures the caller's position.
// Replaces std::source_location, which clang 14 lacks.
struct Location {
  const char* file = "";
  int line = 0;

  static constexpr Location here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// The one exception that Kernelgrade throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws Error("<file>:<line>: <message>").
[[noreturn]] void fail(const std::string& message, Location where = Location::here());

// Throws unless `condition` holds. `message` names the argument, its value and the fix.
inline void require(bool condition, const char* message, Location where = Location::here()) {
  if (!condition) fail(message, where);
}
inline void require(bool condition, const std::string& message, Location where = Location::here()) {
  if (!condition) fail(message, where);
}

// The operating system's text for an error number (errno).
std::string system_error_text(int error);

// A library's status code as text: `ok`, or the library's name, text and number for the error. Each
// library's wrapper adds an overload `Status describe(LibraryStatus)`.
struct Status {
  bool ok;
  std::string text;
};

// Throws Error("<file>:<line>: <expression> failed: <text>") unless the status is a success.
void check_status(const Status& status, const char* expression, Location where);

} // namespace kg

// Checks the status that a library call returns. A macro, because the message includes the failing
// expression.
#define KG_CHECK(expression)                                                                       \
  ::kg::check_status(describe(expression), #expression, ::kg::Location::here())
