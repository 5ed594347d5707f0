// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which check a failure message comes from.
#pragma once

#include <string>
#include <string_view>

namespace kg::mutants {

// One of these; a message that fits none is a plain assertion's, "value".
//   bounds         out of bounds, misaligned or freed memory (checkers), dynamic shared overrun
//   race           unordered accesses, one of them a write (checkers)
//   uninitialised  a read of what was never written (checkers)
//   arithmetic     overflow, a shift too far, a bad enum (checkers)
//   leak           device memory that was not freed (checkers)
//   barrier        a barrier that not all threads of a block meet
//   deadlock       no thread can go on
//   mask           a warp function's mask that does not fit its callers
//   hygiene        a write to an input, a gap or a guard band
//   poison         an output element that was not written, or is made of what was not
//   exact          a result that must be exact, bit for bit
//   oracle         a result outside its tolerance of the oracle, or a row that does not sum to 1
//   special        NaN or infinity where a number belongs, or the reverse
//   vendor         farther from the vendor's result, or less accurate, than allowed
//   order          another result in another order of threads, or the second time
//   launch         not the launches, or not the kernel, that belong to the case
//   refusal        bad arguments were accepted
//   error          an exception in the test's body that is none of the above
//   value          any other assertion
std::string_view check_of(std::string_view message);

bool is_check(std::string_view name);

// All of them, for messages.
std::string check_names();

} // namespace kg::mutants
