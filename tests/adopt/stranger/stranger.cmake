# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# What a project that knows nothing of Kernelgrade has: a library with a kernel, and a test of it. And its one line about Kernelgrade, and
# what it does not want from there.
option(STRANGER_RACE "Leave out the barrier" OFF)
find_package(GTest REQUIRED)
enable_testing()
set(folder ${CMAKE_CURRENT_LIST_DIR})
add_library(sums STATIC EXCLUDE_FROM_ALL ${folder}/sums.cu)
set_target_properties(sums PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(sums PUBLIC ${folder})
if(STRANGER_RACE)
  target_compile_definitions(sums PUBLIC STRANGER_RACE)
endif()
add_executable(sums_test EXCLUDE_FROM_ALL ${folder}/sums_test.cpp) # links where nvcc is
target_compile_definitions(sums_test PRIVATE STRANGER_COUNT=256)
target_link_libraries(sums_test PRIVATE sums GTest::gtest_main)

kernelgrade_check_target(sums_test)

# Every target below this folder is the project's, or says whose it is.
function(stranger_look folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(tests DIRECTORY ${folder} PROPERTY TESTS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(target IN LISTS targets)
    if(NOT target MATCHES "^(sums|kernelgrade_)")
      message(SEND_ERROR "${folder} adds the target ${target}")
    endif()
  endforeach()
  foreach(test IN LISTS tests)
    if(NOT test STREQUAL "sums_test.checked")
      message(SEND_ERROR "${folder} adds the test ${test}")
    endif()
  endforeach()
  foreach(each IN LISTS folders)
    stranger_look(${each})
  endforeach()
endfunction()
stranger_look(${CMAKE_CURRENT_SOURCE_DIR})
get_cmake_property(variables CACHE_VARIABLES)
foreach(variable IN LISTS variables)
  get_property(type CACHE ${variable} PROPERTY TYPE)
  get_property(advanced CACHE ${variable} PROPERTY ADVANCED)
  if(type MATCHES "BOOL|STRING" AND NOT advanced AND NOT variable MATCHES "^(KERNELGRADE|STRANGER|CMAKE|FETCHCONTENT)_")
    message(SEND_ERROR "the option ${variable} has no prefix")
  endif()
endforeach()
