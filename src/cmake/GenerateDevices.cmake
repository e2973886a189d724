# Turns models/devices/*.json into tokenroof/catalogue/device_table.hpp: the built-in devices as constants.
#
# Every element of every array is written out, the unused ones as {}: GCC 12 cannot copy, in a constant expression, a
# constant whose arrays leave elements to their defaults.
#
# Reads TOKENROOF_GENERATED_INCLUDE_DIR and appends the header's path to TOKENROOF_GENERATED_HEADERS. A changed, added or
# removed JSON file re-runs the configure step. src/catalogue/devices.cpp reads the same files at run time; a test
# compares the two.

# In the order of tokenroof::Arithmetic.
set(TOKENROOF_ARITHMETICS fp64 fp32 tf32 fp16 bf16 fp16_accumulate16 fp8 fp8_accumulate16 fp6 fp4 int8 int4)
set(TOKENROOF_MOST_MEMORY_VARIANTS 6)
set(TOKENROOF_MOST_COMPUTE_UNITS 3)

# Sets `out` to the value of a key, or to "" where it is missing.
function(tokenroof_json_get out json)
  string(JSON value ERROR_VARIABLE error GET "${json}" ${ARGN})
  if(error)
    set(value "")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# Sets `out` to the key as a C++ string literal. Text of the table is plain: quotes and backslashes are refused.
function(tokenroof_json_text out json key)
  tokenroof_json_get(value "${json}" ${key})
  if(value STREQUAL "" OR value MATCHES "[\"\\\\]")
    message(FATAL_ERROR "${TOKENROOF_DEVICE_FILE}: \"${key}\" is missing or holds a quote or backslash: ${value}")
  endif()
  set(${out} "\"${value}\"" PARENT_SCOPE)
endfunction()

# Appends `, .member = function(value)` to `out` if the key exists; without a function, the value alone.
function(tokenroof_json_member out json key member function)
  tokenroof_json_get(value "${json}" ${key})
  if(NOT value STREQUAL "")
    if(NOT function STREQUAL "")
      set(value "${function}(${value})")
    endif()
    set(${out} "${${out}}, .${member} = ${value}" PARENT_SCOPE)
  endif()
endfunction()

# Sets `out` to a rate: a number is published, an object is fitted.
function(tokenroof_json_rate out json arithmetic)
  tokenroof_json_get(figure "${json}" ${arithmetic})
  if(figure MATCHES "^{")
    string(JSON value GET "${figure}" value)
    string(JSON low GET "${figure}" low)
    string(JSON high GET "${figure}" high)
    set(${out} "fitted(${value}, ${low}, ${high})" PARENT_SCOPE)
  elseif(NOT figure STREQUAL "")
    set(${out} "published(${figure})" PARENT_SCOPE)
  else()
    set(${out} "{}" PARENT_SCOPE)
  endif()
endfunction()

# Sets `out` to the rates of all arithmetics.
function(tokenroof_json_rates out matrix)
  set(rates "")
  foreach(arithmetic IN LISTS TOKENROOF_ARITHMETICS)
    tokenroof_json_rate(rate "${matrix}" ${arithmetic})
    list(APPEND rates "${rate}")
  endforeach()
  list(JOIN rates ", " rates)
  set(${out} "{{${rates}}}" PARENT_SCOPE)
endfunction()

# Sets `out` to the memory variants of a device, and `count_out` to how many there are.
function(tokenroof_json_variants out count_out memory)
  string(JSON count ERROR_VARIABLE error LENGTH "${memory}" variants)
  if(error)
    set(count 0)
  endif()
  if(count GREATER TOKENROOF_MOST_MEMORY_VARIANTS)
    message(FATAL_ERROR "${TOKENROOF_DEVICE_FILE}: more than ${TOKENROOF_MOST_MEMORY_VARIANTS} memory variants")
  endif()
  set(entries "")
  math(EXPR last "${TOKENROOF_MOST_MEMORY_VARIANTS} - 1")
  foreach(i RANGE ${last})
    set(entry "{}")
    if(i LESS count)
      string(JSON variant GET "${memory}" variants ${i})
      string(JSON capacity GET "${variant}" capacity_GiB)
      set(entry ".capacity = gibibytes(${capacity})")
      tokenroof_json_member(entry "${variant}" usable_GiB usable gibibytes)
      tokenroof_json_member(entry "${variant}" bandwidth_GBps bandwidth gigabytes_per_second)
      set(entry "{${entry}}")
    endif()
    list(APPEND entries "${entry}")
  endforeach()
  list(JOIN entries ", " entries)
  set(${out} "{{${entries}}}" PARENT_SCOPE)
  set(${count_out} ${count} PARENT_SCOPE)
endfunction()

# Sets `out` to one compute unit.
function(tokenroof_json_unit out unit)
  string(JSON kind GET "${unit}" kind)
  tokenroof_json_get(matrix "${unit}" matrix_TFLOPS)
  if(matrix STREQUAL "")
    set(matrix "{}")
  endif()
  tokenroof_json_rates(rates "${matrix}")
  set(entry "{.kind = ComputeUnitKind::${kind}, .matrix = ${rates}")
  tokenroof_json_member(entry "${unit}" vector_fp32_TFLOPS vector_fp32 teraflops)
  tokenroof_json_member(entry "${unit}" cores cores "")
  tokenroof_json_member(entry "${unit}" clock_MHz clock_hertz megahertz)
  tokenroof_json_get(bandwidth "${unit}" bandwidth_GBps)
  if(bandwidth MATCHES "^{")
    string(JSON bandwidth GET "${bandwidth}" value)
  endif()
  if(NOT bandwidth STREQUAL "")
    string(APPEND entry ", .bandwidth = gigabytes_per_second(${bandwidth})")
  endif()
  set(${out} "${entry}}" PARENT_SCOPE)
endfunction()

# Sets `out` to the compute units of a device, and `count_out` to how many there are.
function(tokenroof_json_units out count_out units)
  string(JSON count LENGTH "${units}")
  if(count GREATER TOKENROOF_MOST_COMPUTE_UNITS)
    message(FATAL_ERROR "${TOKENROOF_DEVICE_FILE}: more than ${TOKENROOF_MOST_COMPUTE_UNITS} compute units")
  endif()
  tokenroof_json_rates(no_rates "{}")
  set(entries "")
  math(EXPR last "${TOKENROOF_MOST_COMPUTE_UNITS} - 1")
  foreach(i RANGE ${last})
    set(entry "{.matrix = ${no_rates}}")
    if(i LESS count)
      string(JSON unit GET "${units}" ${i})
      tokenroof_json_unit(entry "${unit}")
    endif()
    string(APPEND entries "\n             ${entry},")
  endforeach()
  set(${out} "{{${entries}}}" PARENT_SCOPE)
  set(${count_out} ${count} PARENT_SCOPE)
endfunction()

# Appends `, .member = Link{…}` to `out` if the key exists. A link without a name takes `name`.
function(tokenroof_json_link out links key member name)
  tokenroof_json_get(link "${links}" ${key})
  if(link STREQUAL "")
    return()
  endif()
  tokenroof_json_get(own_name "${link}" name)
  if(NOT own_name STREQUAL "")
    set(name "${own_name}")
  endif()
  string(JSON bandwidth GET "${link}" bandwidth_GBps_per_direction)
  set(entry ".name = \"${name}\", .bandwidth = gigabytes_per_second(${bandwidth})")
  tokenroof_json_member(entry "${link}" devices devices "")
  set(${out} "${${out}}, .${member} = Link{${entry}}" PARENT_SCOPE)
endfunction()

# Appends `, .cloud_price = …` to `out` if there are quotes.
function(tokenroof_json_cloud_price out price)
  string(JSON count ERROR_VARIABLE error LENGTH "${price}" cloud_USD_per_hour)
  if(error OR count EQUAL 0)
    return()
  endif()
  set(quotes "")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON quote GET "${price}" cloud_USD_per_hour ${i} USD_per_hour)
    list(APPEND quotes "${quote}")
  endforeach()
  list(JOIN quotes ", " quotes)
  set(${out} "${${out}}, .cloud_price = dollars_per_hour(median<${count}>({${quotes}}))" PARENT_SCOPE)
endfunction()

# Sets `out` to one entry of the table.
function(tokenroof_device_entry out json)
  foreach(key IN ITEMS id name vendor family)
    tokenroof_json_text(${key} "${json}" ${key})
  endforeach()
  string(JSON device_class GET "${json}" device_class)
  string(JSON memory GET "${json}" memory)
  string(JSON units GET "${json}" compute_units)
  set(entry "Device{.id = ${id}, .name = ${name}, .vendor = ${vendor}, .device_class = DeviceClass::${device_class}")
  string(APPEND entry ", .family = ${family}")
  tokenroof_json_member(entry "${memory}" bandwidth_GBps bandwidth gigabytes_per_second)

  tokenroof_json_variants(variants count "${memory}")
  string(APPEND entry ",\n           .memory_variants = ${variants}, .memory_variant_count = ${count}")
  tokenroof_json_units(unit_entries count "${units}")
  string(APPEND entry ",\n           .compute_units = ${unit_entries}, .compute_unit_count = ${count}")

  set(rest "")
  foreach(part IN ITEMS caches links storage price)
    tokenroof_json_get(${part} "${json}" ${part})
    if(${part} STREQUAL "")
      set(${part} "{}")
    endif()
  endforeach()
  tokenroof_json_member(rest "${caches}" l2_MiB l2_cache mebibytes)
  tokenroof_json_member(rest "${caches}" last_level_MiB last_level_cache mebibytes)
  tokenroof_json_link(rest "${links}" scale_up scale_up "")
  tokenroof_json_link(rest "${links}" pcie pcie "PCIe")
  tokenroof_json_link(rest "${links}" scale_out scale_out "network")
  tokenroof_json_member(rest "${json}" power_W power watts)
  tokenroof_json_member(rest "${storage}" read_GBps storage_read gigabytes_per_second)
  tokenroof_json_member(rest "${price}" list_USD list_price dollars)
  tokenroof_json_cloud_price(rest "${price}")
  if(NOT rest STREQUAL "")
    string(APPEND entry ",\n           ${rest}")
    string(REPLACE "           , ." "           ." entry "${entry}")
  endif()
  set(${out} "${entry}}" PARENT_SCOPE)
endfunction()

# Sets `out` to a spelling as it is looked up; normalised() in tokenroof/catalogue/devices.hpp does the same.
function(tokenroof_normalise out spelling)
  string(TOLOWER "${spelling}" text)
  string(REGEX REPLACE "[^a-z0-9]" "" text "${text}")
  string(REGEX REPLACE "^(nvidia|geforce|amd|radeon|intel|google|apple)+" "" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(tokenroof_generate_devices folder header)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.json")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  list(SORT files)

  # Nothing to do while the table is newer than all that it is made from.
  set(stale FALSE)
  foreach(source IN LISTS files ITEMS "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" "${folder}")
    if("${source}" IS_NEWER_THAN "${header}")
      set(stale TRUE)
      break()
    endif()
  endforeach()
  if(NOT stale)
    return()
  endif()

  set(entries "")
  set(spellings "")
  set(index 0)
  foreach(file IN LISTS files)
    set(TOKENROOF_DEVICE_FILE "${file}")
    file(READ "${file}" json)
    string(JSON id GET "${json}" id)
    cmake_path(GET file STEM stem)
    if(NOT id STREQUAL stem)
      message(FATAL_ERROR "${file}: the id is '${id}', but it must be the file's name")
    endif()
    tokenroof_device_entry(entry "${json}")
    string(APPEND entries "  ${entry},\n")

    tokenroof_json_get(name "${json}" name)
    tokenroof_json_get(aliases "${json}" aliases)
    set(own "${id}" "${name}")
    string(JSON count ERROR_VARIABLE error LENGTH "${aliases}")
    if(NOT error AND count GREATER 0)
      math(EXPR last "${count} - 1")
      foreach(i RANGE ${last})
        string(JSON alias GET "${aliases}" ${i})
        list(APPEND own "${alias}")
      endforeach()
    endif()
    foreach(spelling IN LISTS own)
      tokenroof_normalise(spelling "${spelling}")
      if(DEFINED owner_${spelling} AND NOT owner_${spelling} STREQUAL id)
        message(FATAL_ERROR "${file}: the spelling '${spelling}' already means ${owner_${spelling}}")
      endif()
      if(NOT DEFINED owner_${spelling})
        set(owner_${spelling} "${id}")
        set(index_${spelling} ${index})
        list(APPEND spellings "${spelling}")
      endif()
    endforeach()
    math(EXPR index "${index} + 1")
  endforeach()

  list(SORT spellings)
  set(alias_entries "")
  foreach(spelling IN LISTS spellings)
    string(APPEND alias_entries "    {\"${spelling}\", ${index_${spelling}}},\n")
  endforeach()
  list(LENGTH spellings alias_count)

  file(CONFIGURE OUTPUT "${header}" @ONLY CONTENT
"// Generated from models/devices/*.json by src/cmake/GenerateDevices.cmake: do not edit.
#pragma once

#include <array>

#include \"tokenroof/catalogue/device_entry.hpp\"
#include \"tokenroof/hardware/device.hpp\"

namespace tokenroof::catalogue {

namespace entry {

inline constexpr std::array<Device, @index@> devices = {{
@entries@}};

} // namespace entry

/// Sorted by id.
inline constexpr const std::array<Device, @index@>& built_in_devices = entry::devices;

/// Every spelling of a device, normalised and sorted.
inline constexpr std::array<DeviceAlias, @alias_count@> built_in_device_aliases = {{
@alias_entries@}};

} // namespace tokenroof::catalogue
")
  file(TOUCH "${header}")
endfunction()

set(header "${TOKENROOF_GENERATED_INCLUDE_DIR}/tokenroof/catalogue/device_table.hpp")
tokenroof_generate_devices("${PROJECT_SOURCE_DIR}/models/devices" "${header}")
list(APPEND TOKENROOF_GENERATED_HEADERS "${header}")
