# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: headers, libraries, pkg-config and CMake
# package, man pages.  Programs are installed by their own folders.
include(CMakePackageConfigHelpers)

set(TASKQ_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/taskq)
set(TASKQ_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS taskq_static taskq_shared EXPORT taskqTargets)
install(DIRECTORY include/taskq ${TASKQ_GENERATED_INCLUDE}/taskq
	TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

# ${pcfiledir} keeps the package relocatable.
file(RELATIVE_PATH TASKQ_PC_TO_PREFIX
	${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TASKQ_PC_TO_PREFIX "${TASKQ_PC_TO_PREFIX}")
# Outside of the system's prefixes the loader does not look, so programs are told where.
configure_file(cmake/taskq.pc.in ${PROJECT_BINARY_DIR}/pc-of-system/taskq.pc @ONLY)
set(TASKQ_PC_RPATH "-Wl,-rpath,\${libdir} ")
configure_file(cmake/taskq.pc.in ${PROJECT_BINARY_DIR}/pc-of-others/taskq.pc @ONLY)
install(CODE "
	set(of others)
	if(CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?/?\$\")
		set(of system)
	endif()
	file(INSTALL \"${PROJECT_BINARY_DIR}/pc-of-\${of}/taskq.pc\"
		DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${TASKQ_PC_DIR}\")")

configure_package_config_file(cmake/taskqConfig.cmake.in ${PROJECT_BINARY_DIR}/taskqConfig.cmake
	INSTALL_DESTINATION ${TASKQ_CMAKE_DIR})
# Before 1.0 every minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/taskqConfigVersion.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taskqConfig.cmake ${PROJECT_BINARY_DIR}/taskqConfigVersion.cmake
	DESTINATION ${TASKQ_CMAKE_DIR})
install(EXPORT taskqTargets NAMESPACE taskq:: DESTINATION ${TASKQ_CMAKE_DIR})

foreach(section IN ITEMS 1 3 7)
	install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
		OPTIONAL FILES_MATCHING PATTERN "*.${section}")
endforeach()
include(cmake/man_links.cmake)

# A unit for systemd, to be copied to /etc/systemd/system.
install(FILES docs/systemd/taskq@.service DESTINATION ${CMAKE_INSTALL_DATADIR}/taskq/systemd)

# A dashboard for Grafana, to be imported there.
install(FILES docs/grafana/taskq.json DESTINATION ${CMAKE_INSTALL_DATADIR}/taskq/grafana)
