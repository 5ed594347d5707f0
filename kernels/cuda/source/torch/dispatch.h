// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// AT_DISPATCH_*: runs code for the element type of a tensor, named scalar_t in that code.
#pragma once

#include "cuda/source/torch/scalar_type.h"

#define AT_DISPATCH_CASE(TYPE, ...)                                                                \
  case TYPE: {                                                                                     \
    using scalar_t [[maybe_unused]] = ::kg::torch::Element<TYPE>;                                  \
    return __VA_ARGS__();                                                                          \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                        \
  [&] {                                                                                            \
    const ::c10::ScalarType kg_type = TYPE;                                                        \
    switch (kg_type) {                                                                             \
      __VA_ARGS__                                                                                  \
    default:                                                                                       \
      ::kg::torch::refuse("", __FILE__, __LINE__, '"', NAME, "\" not implemented for '", kg_type,  \
                          "'");                                                                    \
    }                                                                                              \
  }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                                                       \
  AT_DISPATCH_CASE(::c10::kDouble, __VA_ARGS__) AT_DISPATCH_CASE(::c10::kFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                                                       \
  AT_DISPATCH_CASE(::c10::kByte, __VA_ARGS__)                                                      \
  AT_DISPATCH_CASE(::c10::kChar, __VA_ARGS__)                                                      \
  AT_DISPATCH_CASE(::c10::kInt, __VA_ARGS__)                                                       \
  AT_DISPATCH_CASE(::c10::kLong, __VA_ARGS__) AT_DISPATCH_CASE(::c10::kShort, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)                                                            \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...)                                                \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...)                                         \
  AT_DISPATCH_SWITCH(                                                                              \
      TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...)                                       \
  AT_DISPATCH_FLOATING_TYPES_AND(::c10::kHalf, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...)                                     \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                   \
                     AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...)                                                \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...)                                                     \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...)                                              \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                   \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
