// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel from elsewhere, as the one variant of an operation's card: the functions of signature.h
// that the program defines.
#pragma once

#include <string>

#include "tests/contract/card.h"

namespace kg::card {

// The card with the candidate in the place of our variants. Its types are those of which the
// program defines a function; each function that it lacks is left out of the samples and sizes.
// Held to the bound of a kernel that nobody knows; tensors are dense; nothing is refused and no
// variant chosen. Throws Error with the functions that are looked for where there is none of them.
Card candidate_card(const Card& card);

} // namespace kg::card
