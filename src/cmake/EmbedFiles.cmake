# Turns models/**.json into embedded_files.cpp: the catalogue's files as text inside the library. Looked up by
# src/catalogue/embedded_files.hpp.
#
# Reads TOKENROOF_GENERATED_DIR and appends the source's path to TOKENROOF_GENERATED_SOURCES. A changed, added or removed
# file re-runs the configure step.

# Sets `out` to a text as string literals. In pieces, since compilers limit a literal (MSVC to 16 KiB), cut at ends of
# lines so that no character is torn.
function(tokenroof_literals out text file)
  set(most_bytes 8000)
  if(text MATCHES "\\)json\"")
    message(FATAL_ERROR "${file} holds the end of a raw string literal, )json\"")
  endif()
  set(literals "")
  string(LENGTH "${text}" length)
  while(length GREATER 0)
    set(piece "${text}")
    if(length GREATER most_bytes)
      string(SUBSTRING "${text}" 0 ${most_bytes} piece)
      string(FIND "${piece}" "\n" end REVERSE)
      if(end EQUAL -1)
        message(FATAL_ERROR "${file} has a line of more than ${most_bytes} bytes")
      endif()
      math(EXPR end "${end} + 1")
      string(SUBSTRING "${text}" 0 ${end} piece)
    endif()
    string(APPEND literals "R\"json(${piece})json\"sv\n")
    string(LENGTH "${piece}" end)
    string(SUBSTRING "${text}" ${end} -1 text)
    string(LENGTH "${text}" length)
  endwhile()
  set(${out} "${literals}" PARENT_SCOPE)
endfunction()

function(tokenroof_embed_files folder source)
  file(GLOB_RECURSE paths LIST_DIRECTORIES TRUE CONFIGURE_DEPENDS "${folder}/*")
  set(files ${paths})
  list(FILTER files INCLUDE REGEX "\\.json$")
  list(FILTER files EXCLUDE REGEX "/schema/")
  list(SORT files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})

  # Nothing to do while the source is newer than all that it is made from; a folder is newer when a file left it.
  set(stale FALSE)
  foreach(path IN LISTS paths ITEMS "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" "${folder}")
    if("${path}" IS_NEWER_THAN "${source}")
      set(stale TRUE)
      break()
    endif()
  endforeach()
  if(NOT stale)
    return()
  endif()

  set(entries "")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    tokenroof_literals(literals "${text}" "${file}")
    file(RELATIVE_PATH path "${folder}" "${file}")
    string(APPEND entries "{\"${path}\"sv,\n${literals}},\n")
  endforeach()
  list(LENGTH files count)

  # file(CONFIGURE) would replace an @NAME@ inside the texts.
  set(content
"// Generated from models/ by src/cmake/EmbedFiles.cmake: do not edit.
#include <array>

#include \"catalogue/embedded_files.hpp\"

namespace tokenroof::catalogue {
namespace {

using namespace std::string_view_literals;

constexpr std::array<EmbeddedFile, ${count}> files = {{
${entries}}};

} // namespace

std::span<const EmbeddedFile> embedded_files() noexcept { return files; }

} // namespace tokenroof::catalogue
")
  file(WRITE "${source}" "${content}")
endfunction()

tokenroof_embed_files("${PROJECT_SOURCE_DIR}/models" "${TOKENROOF_GENERATED_DIR}/embedded_files.cpp")
list(APPEND TOKENROOF_GENERATED_SOURCES "${TOKENROOF_GENERATED_DIR}/embedded_files.cpp")
