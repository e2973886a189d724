# What every target compiled here gets, and nobody who links them does.

# Warnings. A machine-specific flag such as -march has no place here: inline code compiled for two instruction sets
# meets at link time, and Eigen's types change their alignment with it.
function(tokenroof_target_defaults target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${target} PRIVATE cxx_std_20)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 /permissive-)
    return()
  endif()
  target_compile_options(${target} PRIVATE
    -Wall
    -Wextra
    -Wpedantic
    -Wconversion
    -Wsign-conversion
    -Wshadow
    -Wnon-virtual-dtor
    -Wold-style-cast
    -Wcast-align
    -Woverloaded-virtual
    -Wimplicit-fallthrough
    -Wformat=2
  )
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE
      -Wduplicated-cond
      -Wlogical-op
      # Leaving trailing fields of a designated initialiser to their defaults is how our aggregates are meant to be written.
      -Wno-missing-field-initializers
    )
  endif()
endfunction()
