// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An external kernel as the only variant of an operation's card: the functions of signature.h that
// a shared object defines.
#pragma once

#include <string>

#include "tests/contract/card.h"

namespace kg::card {

// Loads the shared object and returns the card with the candidate in place of our variants. Its
// types are those with a function in the library; samples and sizes that need a missing function
// are dropped. It is held to the bound for unknown kernels: dense tensors, no refused arguments, no
// selection. `card` must outlive it. Throws Error with the linker's message if loading fails, or
// with the functions' names if it defines none.
Card candidate_card(const Card& card, const std::string& library,
                    const std::vector<std::string>& shapes = {});

} // namespace kg::card
