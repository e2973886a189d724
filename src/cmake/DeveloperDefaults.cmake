# Conveniences of a build of tokenroof itself; a project that embeds it keeps its own choices.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TOKENROOF_CCACHE ccache)
  mark_as_advanced(TOKENROOF_CCACHE)
  if(TOKENROOF_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TOKENROOF_CCACHE}")
  endif()
endif()

# Programs and libraries side by side, so that build/<preset>/bin/tokenroof is where one looks.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
