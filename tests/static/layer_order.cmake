cmake_minimum_required(VERSION 3.25)

# Which header may include which: only what stands on a line above its own. Parts of one line are siblings and never
# include each other; a part may include itself. `units` means units.hpp and everything under units/.
set(layers
  "errors inline_string shared nearest version"
  "units"
  "estimate"
  "text"
  "precision"
  "network hardware workload"
  "engine"
  "deployment"
  "operators"
  "roofline memory"
  "inference training"
  "serving"
  "predict"
  "explain sweep planning"
  "catalogue"
  "readers calibration validation report"
  "integrations"
  "tokenroof"
)
# Costs a dependency that its includer did not ask for, so not even the umbrella may include it.
set(included_by_none "integrations")

# part_of(path variable): the part of `tokenroof/units/literals.hpp` is `units`.
function(part_of path variable)
  string(REGEX REPLACE "^tokenroof/([^/]+)/.*$" "\\1" part "${path}")
  string(REGEX REPLACE "^tokenroof/([^/]+)\\.hpp$" "\\1" part "${part}")
  set(${variable} "${part}" PARENT_SCOPE)
endfunction()

set(rank 0)
foreach(layer IN LISTS layers)
  string(REPLACE " " ";" parts "${layer}")
  foreach(part IN LISTS parts)
    set(rank_of_${part} ${rank})
  endforeach()
  math(EXPR rank "${rank} + 1")
endforeach()

set(violations 0)
set(headers 0)
macro(violation text)
  math(EXPR violations "${violations} + 1")
  message("${text}")
endmacro()

string(REPLACE "|" ";" roots "${INCLUDE_DIRECTORIES}")
foreach(root IN LISTS roots)
  file(GLOB_RECURSE paths RELATIVE "${root}" "${root}/tokenroof/*.hpp")
  foreach(path IN LISTS paths)
    math(EXPR headers "${headers} + 1")
    part_of("${path}" part)
    if(NOT DEFINED rank_of_${part})
      violation("${root}/${path}:1: '${part}' stands on no line of the order in tests/static/layer_order.cmake")
      continue()
    endif()
    # A list of lines would split at semicolons and join at brackets; the pattern leaves neither.
    file(READ "${root}/${path}" text)
    string(REGEX REPLACE "[][;]" " " text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    set(number 0)
    foreach(line IN LISTS lines)
      math(EXPR number "${number} + 1")
      if(NOT line MATCHES "^[ \t]*#[ \t]*include[ \t]*[\"<](tokenroof/[^\">]+)[\">]")
        continue()
      endif()
      set(included "${CMAKE_MATCH_1}")
      part_of("${included}" included_part)
      set(where "${root}/${path}:${number}: includes ${included}")
      if(NOT DEFINED rank_of_${included_part})
        violation("${where}, but '${included_part}' stands on no line of the order")
      elseif(included_part IN_LIST included_by_none AND NOT part IN_LIST included_by_none)
        violation("${where}, but nothing includes ${included_part}/")
      elseif(NOT included_part STREQUAL part AND NOT rank_of_${included_part} LESS rank_of_${part})
        list(GET layers ${rank_of_${included_part}} layer)
        violation("${where}, but '${part}' may include only what stands above it, and '${included_part}' does not (line: ${layer})")
      endif()
    endforeach()
  endforeach()
endforeach()

if(headers EQUAL 0)
  message(FATAL_ERROR "no headers under ${INCLUDE_DIRECTORIES}")
endif()
if(violations GREATER 0)
  message(FATAL_ERROR "${violations} violations of the order of layers")
endif()
message("${headers} headers keep the order of layers")
