cmake_minimum_required(VERSION 3.25)

# Script of tokenroof_add_compile_failure.
string(REPLACE "|" ";" INCLUDES "${INCLUDES}")
list(TRANSFORM INCLUDES PREPEND -I)
set(ENV{LC_ALL} C) # diagnostics in English, quotes in ASCII
set(command "${COMPILER}" -std=c++20 -fsyntax-only ${INCLUDES} "${SOURCE}")

execute_process(COMMAND ${command} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "must compile without TOKENROOF_MUST_NOT_COMPILE, but does not:\n${errors}")
endif()

execute_process(COMMAND ${command} -DTOKENROOF_MUST_NOT_COMPILE RESULT_VARIABLE result ERROR_VARIABLE errors)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles with TOKENROOF_MUST_NOT_COMPILE, but must not")
endif()
if(NOT errors MATCHES "${DIAGNOSTIC}")
  message(FATAL_ERROR "fails as it must, but no diagnostic matches '${DIAGNOSTIC}':\n${errors}")
endif()
