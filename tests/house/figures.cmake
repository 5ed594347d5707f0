# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# The figures on the result pages in SOURCE's docs equal those in the data files that the pages name.
cmake_minimum_required(VERSION 3.25)

# says(PAGE REGEX WHY): fails unless a line of PAGE matches.
function(says page regex why)
  file(STRINGS ${SOURCE}/docs/results/${page} line REGEX "${regex}")
  if(NOT line)
    message(SEND_ERROR "docs/results/${page} has no line that matches \"${regex}\": ${why}")
  endif()
endfunction()

# count(OUT FILE REGEX): the number of lines of FILE that match.
function(count out file regex)
  file(STRINGS ${SOURCE}/${file} lines REGEX "${regex}")
  list(LENGTH lines number)
  set(${out} ${number} PARENT_SCOPE)
endfunction()

# Error rates of the gate.
set(calibration baselines/host/calibration.csv)
foreach(rule "kernelgrade|Kernelgrade" "nvbench_legacy|NVBench legacy" "nvbench_robust|NVBench robust" "mann_whitney|Mann-Whitney p < 0.05"
        "fixed_5|medians, 5 %" "fixed_10|medians, 10 %" "onednn_t|t test, 5 processes" "onednn_t_10|t test and 10 %")
  string(REPLACE "|" ";" rule "${rule}")
  list(GET rule 0 name)
  list(GET rule 1 title)
  set(cells "")
  foreach(experiment aa inject_5 inject_10 creep load)
    file(STRINGS ${SOURCE}/${calibration} line REGEX "^1,host,host,${experiment},all,${name},")
    string(REGEX REPLACE "^1,host,host,[^,]+,all,[^,]+,([0-9]+),([0-9]+),.*" "\\2/\\1" cell "${line}")
    string(APPEND cells "[^|]*[ (]${cell}\\)? \\|")
  endforeach()
  says(validation.md "^\\| ${title} \\|${cells}$" "${calibration} holds other counts")
endforeach()

# Counts compared with the hardware's.
file(STRINGS ${SOURCE}/docs/results/counts_against_ncu.csv lines REGEX "^nvidia")
foreach(line IN LISTS lines)
  string(REPLACE "," ";" line "${line}")
  list(GET line 5 what)
  list(GET line 7 equal)
  says(validation.md "^\\| ${what} \\| ${equal} \\|" "counts_against_ncu.csv holds it")
endforeach()

# Published kernels and their timings.
foreach(series "SGEMM_CUDA," "CUDA-GEMM-Optimization f32," "CUDA-GEMM-Optimization f16," "NVIDIA_SGEMM_PRACTICE," "reduce," "gpu-matrix-transpose,")
  count(kernels perf/code/timing_model/ladders.csv "^${series}")
  string(REPLACE "," "" title "${series}")
  says(validation.md "${title}.* \\| ${kernels} \\| 0\\.[0-9]+ \\|" "perf/code/timing_model/ladders.csv has ${kernels} kernels of ${series}")
endforeach()
