// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel from elsewhere, as the one variant of an operation's card: the functions of signature.h
// that a shared object defines.
#pragma once

#include <string>

#include "tests/contract/card.h"

namespace kg::card {

// Loads the shared object and gives the card with the candidate in the place of our variants. Its
// types are those of which it defines a function; what needs a function that it lacks is left out
// of the samples and sizes. Held to the bound of a kernel that nobody knows; tensors are dense;
// nothing is refused and no variant chosen. `card` must outlive it. Throws Error where the object
// cannot be loaded, with the linker's words, or has none of the functions, with their names.
Card candidate_card(const Card& card, const std::string& library,
                    const std::vector<std::string>& shapes = {});

} // namespace kg::card
