# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# kernelgrade_add_resources(<op> CATEGORY <category> SOURCES <file>... [IN_ALL]): adds the test resource.<op>, which compares ptxas's report
# and the PTX of the op's kernels with baselines/resources/. Needs no GPU. Host backend: the executor reports the launch configurations.
# With nvcc, the target kernelgrade_<op>_fatbins compiles the kernels for KERNELGRADE_RESOURCE_ARCHS without linking them. IN_ALL adds it to
# `all`. For the other ops, ./grade compiles only what changed since it was blessed, and two nightly tests compile everything:
#   fatbins.<op>.build      builds that target, for each test that requires the fixture fatbins_<op>
#   compiled_resource.<op>  runs resource.<op> afterwards
set(KERNELGRADE_RESOURCE_ARCHS sm_90a CACHE STRING "Architectures for which resources are judged; at night sm_80, too")
find_program(KERNELGRADE_NVCC nvcc HINTS ENV CUDA_HOME PATH_SUFFIXES bin)
mark_as_advanced(KERNELGRADE_NVCC)
# Fatbins hold machine code and PTX; the log of ptxas has registers and spills. -gencode goes between these two lists.
set(KERNELGRADE_FATBIN_FLAGS -c -fatbin -lineinfo)
set(KERNELGRADE_NVCC_FLAGS --compress-mode=none -std=c++20 -O3 -DNDEBUG -DKG_BACKEND_CUDA=1 --expt-relaxed-constexpr)
# REAL is the machine code's architecture, VIRTUAL the PTX's.
set(KERNELGRADE_GENCODE "arch=VIRTUAL,code=[REAL,VIRTUAL]")

set(KERNELGRADE_OP_WITHOUT_NVDISASM axpy) # a test judges its resources without nvdisasm

# "13.0" and "13.0.88".
set(KERNELGRADE_NVCC_RELEASE "")
set(KERNELGRADE_NVCC_VERSION "")
if(KERNELGRADE_NVCC)
  execute_process(COMMAND ${KERNELGRADE_NVCC} --version OUTPUT_VARIABLE text)
  if(NOT text MATCHES "release ([0-9]+\\.[0-9]+), V([0-9.]+)")
    message(FATAL_ERROR "${KERNELGRADE_NVCC} --version names no release: ${text}")
  endif()
  set(KERNELGRADE_NVCC_RELEASE ${CMAKE_MATCH_1})
  set(KERNELGRADE_NVCC_VERSION ${CMAKE_MATCH_2})
endif()

# An architecture's folder has the name of its baseline file.
function(kernelgrade_resource_folder arch result)
  set(${result} ${PROJECT_BINARY_DIR}/resources/${arch}-cuda${KERNELGRADE_NVCC_RELEASE} PARENT_SCOPE)
endfunction()

# Output for another architecture or from another nvcc is no longer updated, so it must not be judged.
file(GLOB others ${PROJECT_BINARY_DIR}/resources/*)
foreach(arch IN LISTS KERNELGRADE_RESOURCE_ARCHS)
  kernelgrade_resource_folder(${arch} folder)
  list(REMOVE_ITEM others ${folder})
endforeach()
if(others)
  file(REMOVE_RECURSE ${others})
endif()

# One fatbin with machine code and PTX, and one ptxas log per source, in `folder`; returns the fatbins' names in <result>. DEPENDS:
# generated headers.
function(kernelgrade_compile_fatbins arch folder result)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "INCLUDES;SOURCES;DEPENDS")
  file(MAKE_DIRECTORY ${folder})
  list(TRANSFORM arg_INCLUDES PREPEND -I)
  string(REPLACE sm_ compute_ virtual ${arch})
  string(REPLACE VIRTUAL ${virtual} gencode ${KERNELGRADE_GENCODE})
  string(REPLACE REAL ${arch} gencode ${gencode})
  # ccache recognizes a compilation by its -c.
  set(compile ${KERNELGRADE_NVCC} ${KERNELGRADE_FATBIN_FLAGS} -gencode ${gencode} ${KERNELGRADE_NVCC_FLAGS})
  list(PREPEND compile ${KERNELGRADE_COMPILER_LAUNCHER})
  set(fatbins "")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(stem ${source} NAME_WE)
    set(base ${folder}/${stem})
    add_custom_command(OUTPUT ${base}.fatbin BYPRODUCTS ${base}.log
      # The output of ptxas goes to the log and, on failure, to the console.
      COMMAND sh -c "log=$1; shift; \"$@\" > \"$log\" 2>&1 || { cat \"$log\"; exit 1; }" sh ${base}.log
        ${compile} ${arg_INCLUDES} -Xptxas=-v -MD -MF ${base}.d -o ${base}.fatbin ${source}
      DEPENDS ${source} ${arg_DEPENDS} DEPFILE ${base}.d COMMENT "Compiling ${source} for ${arch}" VERBATIM)
    list(APPEND fatbins ${base}.fatbin)
  endforeach()
  set(${result} ${fatbins} PARENT_SCOPE)
endfunction()

function(kernelgrade_add_resources op)
  cmake_parse_arguments(PARSE_ARGV 1 arg "IN_ALL" "CATEGORY" "SOURCES")
  if(NOT KERNELGRADE_BACKEND STREQUAL "host")
    return()
  endif()
  add_test(NAME resource.${op} COMMAND kernelgrade resources --op ${op}
    --json ${PROJECT_BINARY_DIR}/results/resource.${op}.json)
  set_tests_properties(resource.${op} PROPERTIES
    LABELS "perf;cat_${arg_CATEGORY};op_${op}" TIMEOUT 300 SKIP_RETURN_CODE 77)
  if(NOT KERNELGRADE_NVCC)
    return()
  endif()
  set(fatbins "")
  foreach(arch IN LISTS KERNELGRADE_RESOURCE_ARCHS)
    kernelgrade_resource_folder(${arch} folder)
    kernelgrade_compile_fatbins(${arch} ${folder}/${op} made INCLUDES ${PROJECT_SOURCE_DIR}/kernels SOURCES ${arg_SOURCES})
    list(APPEND fatbins ${made})
  endforeach()
  set(all "")
  if(arg_IN_ALL)
    set(all ALL)
  endif()
  add_custom_target(kernelgrade_${op}_fatbins ${all} DEPENDS ${fatbins})
  add_test(NAME fatbins.${op}.build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target kernelgrade_${op}_fatbins)
  set_tests_properties(fatbins.${op}.build PROPERTIES
    LABELS "nightly;op_${op}" FIXTURES_SETUP fatbins_${op} RUN_SERIAL ON TIMEOUT 1800)
  add_test(NAME compiled_resource.${op} COMMAND kernelgrade resources --op ${op})
  set_tests_properties(compiled_resource.${op} PROPERTIES
    LABELS "nightly;op_${op}" TIMEOUT 300 FIXTURES_REQUIRED fatbins_${op} SKIP_RETURN_CODE 77)
  if(NOT TARGET fatbins)
    add_custom_target(fatbins)
  endif()
  add_dependencies(fatbins kernelgrade_${op}_fatbins)
  if(op STREQUAL KERNELGRADE_OP_WITHOUT_NVDISASM)
    add_test(NAME unit.resources_unread COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:kernelgrade> -DOP=${op}
      -P ${PROJECT_SOURCE_DIR}/tests/unit/perf/code/resources/unread.cmake)
    set_tests_properties(unit.resources_unread PROPERTIES LABELS unit TIMEOUT 60)
  endif()
endfunction()
