find_package(GTest REQUIRED)
include(GoogleTest)

# Not every distribution packages rapidcheck with a CMake file; without it the properties are left out, loudly.
find_package(rapidcheck QUIET)
if(NOT TARGET rapidcheck_gtest)
  find_library(TOKENROOF_RAPIDCHECK rapidcheck)
  find_path(TOKENROOF_RAPIDCHECK_INCLUDE rapidcheck/gtest.h)
  mark_as_advanced(TOKENROOF_RAPIDCHECK TOKENROOF_RAPIDCHECK_INCLUDE)
  if(TOKENROOF_RAPIDCHECK AND TOKENROOF_RAPIDCHECK_INCLUDE)
    add_library(rapidcheck_gtest INTERFACE IMPORTED GLOBAL)
    target_link_libraries(rapidcheck_gtest INTERFACE "${TOKENROOF_RAPIDCHECK}")
    target_include_directories(rapidcheck_gtest INTERFACE "${TOKENROOF_RAPIDCHECK_INCLUDE}")
  endif()
endif()

# tokenroof_add_test(NAME SOURCES file... [LIBRARIES target...] [ONE_ENTRY])
#
# One GoogleTest executable `NAME_tests`; each test in it is a ctest entry `NAME.Suite.Test`. ONE_ENTRY makes the whole
# executable one entry: for tests over the catalogue, where thousands of processes would each parse it anew.
function(tokenroof_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_ENTRY" "" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "tokenroof_add_test(${name}): SOURCES missing, or not understood: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target ${name}_tests)
  add_executable(${target} ${arg_SOURCES})
  tokenroof_target_defaults(${target})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    TOKENROOF_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    TOKENROOF_TEST_DATA_DIR="${CMAKE_CURRENT_SOURCE_DIR}/data"
  )
  if(arg_ONE_ENTRY)
    add_test(NAME ${name} COMMAND ${target})
  else()
    # At test time rather than after linking: a test that crashes on start-up then fails instead of breaking the build.
    gtest_discover_tests(${target} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST)
  endif()
endfunction()

# tokenroof_add_compile_failure(NAME SOURCE "expected diagnostic regex" [LIBRARIES target...])
#
# A ctest entry that compiles SOURCE twice: as it stands, which must succeed, and with TOKENROOF_MUST_NOT_COMPILE defined,
# which must fail with a matching diagnostic. Thus a typo or a missing header cannot pass for the error that is meant.
function(tokenroof_add_compile_failure name source diagnostic)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LIBRARIES")
  if(NOT arg_LIBRARIES)
    set(arg_LIBRARIES tokenroof::headers)
  endif()
  # Never built: it only gathers the include directories, link interfaces followed.
  set(target must_not_compile_${name})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  add_test(NAME static.must_not_compile.${name}
    COMMAND ${CMAKE_COMMAND}
      -D "COMPILER=${CMAKE_CXX_COMPILER}"
      -D "INCLUDES=$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,|>"
      -D "SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source}"
      -D "DIAGNOSTIC=${diagnostic}"
      -P "${PROJECT_SOURCE_DIR}/tests/cmake/CompileFailure.cmake"
  )
endfunction()
