include(CMakePackageConfigHelpers)

set(TOKENROOF_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/tokenroof")

install(TARGETS tokenroof tokenroof_headers EXPORT tokenroof-targets FILE_SET HEADERS)
install(TARGETS tokenroof_integrations FILE_SET HEADERS)
install(EXPORT tokenroof-targets NAMESPACE tokenroof:: DESTINATION "${TOKENROOF_CMAKE_DIR}")
if(TARGET tokenroof-cli)
  install(TARGETS tokenroof-cli)
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/src/cmake/tokenroof-config.cmake.in"
  "${PROJECT_BINARY_DIR}/tokenroof-config.cmake"
  INSTALL_DESTINATION "${TOKENROOF_CMAKE_DIR}"
)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/tokenroof-config-version.cmake"
  COMPATIBILITY SameMinorVersion # below 1.0 a minor release may break
)
install(
  FILES "${PROJECT_BINARY_DIR}/tokenroof-config.cmake" "${PROJECT_BINARY_DIR}/tokenroof-config-version.cmake"
  DESTINATION "${TOKENROOF_CMAKE_DIR}"
)

set(TOKENROOF_PC_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH TOKENROOF_PC_PREFIX "/prefix/${TOKENROOF_PC_DIR}" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/src/cmake/tokenroof.pc.in" "${PROJECT_BINARY_DIR}/tokenroof.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tokenroof.pc" DESTINATION "${TOKENROOF_PC_DIR}")
