// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which check a failure message comes from.
#pragma once

#include <string>
#include <string_view>

namespace kg::mutants {

// The checks; a message that matches none of the others is a plain assertion's, "value".
//   bounds         out of bounds, misaligned or freed memory (checkers), dynamic shared overrun
//   race           unordered accesses, one of them a write (checkers)
//   uninitialised  a read of memory that was never written (checkers)
//   arithmetic     overflow, a shift too far, a bad enum (checkers)
//   leak           device memory that was not freed (checkers)
//   barrier        a barrier that not all threads of a block reach
//   deadlock       no thread can proceed
//   mask           a warp function's mask that does not match its callers
//   hygiene        a write to an input, a gap or a guard band
//   poison         an output element that was not written, or computed from unwritten memory
//   exact          a result that must be exact, bit for bit
//   oracle         a result outside its tolerance of the oracle, or a row that does not sum to 1
//   special        NaN or infinity where a number is expected, or the reverse
//   vendor         farther from the vendor's result, or less accurate, than allowed
//   order          a different result in another thread order, or in the second run
//   launch         not the launches, or not the kernel, that the case requires
//   refusal        bad arguments were accepted
//   error          any other exception in the test's body
//   value          any other assertion
std::string_view check_of(std::string_view message);

bool is_check(std::string_view name);

// All of them, for messages.
std::string check_names();

} // namespace kg::mutants
