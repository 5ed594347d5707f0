# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# A single counter counted all of baselines/simt (docs/reference/metrics.md, counter_id), and it is the BUILT one if the compiler is the
# same. Rows of another counter are only informational, so merging two blessings, or changing flags without blessing, would silently disable
# gates.
cmake_minimum_required(VERSION 3.25)
file(GLOB tables ${SOURCE}/baselines/simt/*.csv)
set(counters "")
foreach(table IN LISTS tables)
  get_filename_component(op ${table} NAME_WE)
  file(READ ${table} text)
  string(REGEX MATCHALL ",[^,\n]+ flags [0-9a-f]+," found "${text}")
  list(REMOVE_DUPLICATES found)
  foreach(counter IN LISTS found)
    string(REPLACE "," "" counter "${counter}")
    string(MAKE_C_IDENTIFIER "${counter}" key)
    list(APPEND counters "${counter}")
    list(APPEND ops_${key} ${op})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES counters)
list(LENGTH counters count)
if(count EQUAL 1)
  string(REGEX REPLACE " .*" " " compiler "${counters}")
  string(FIND "${BUILT}" "${compiler}" at)
  if(at EQUAL 0 AND NOT BUILT STREQUAL counters)
    message(FATAL_ERROR "baselines/simt was counted by ${counters}, this build has ${BUILT}: KERNELGRADE_CHECKED_OPTIMISATION has changed. "
                        "Bless the costs again: kernelgrade-cost bless --cost --why \"...\"")
  elseif(NOT BUILT MATCHES " flags ")
    message(FATAL_ERROR "-DBUILT=${BUILT} names no counter")
  endif()
  return()
endif()
set(said "")
foreach(counter IN LISTS counters)
  string(MAKE_C_IDENTIFIER "${counter}" key)
  list(JOIN ops_${key} "," ops)
  string(APPEND said "\n  ${counter}: ${ops}")
endforeach()
message(FATAL_ERROR "baselines/simt was counted by ${count} counters where it should be one:${said}\n"
                    "Bless those of the older ones again: kernelgrade-cost bless --cost --op <operations> --why \"...\"")
