# SPDX-License-Identifier: MIT
# libtaskq, static and shared, made of the three layers.
set(TASKQ_MAP ${PROJECT_SOURCE_DIR}/cmake/libtaskq.map)

foreach(kind IN ITEMS static shared)
	string(TOUPPER ${kind} type)
	set(lib taskq_${kind})
	add_library(${lib} ${type} $<TARGET_OBJECTS:tqi_shm>
		$<TARGET_OBJECTS:tqi_scheduler> $<TARGET_OBJECTS:tqi_client>)
	set_target_properties(${lib} PROPERTIES OUTPUT_NAME taskq LINKER_LANGUAGE C)
	target_include_directories(${lib} INTERFACE
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
		$<BUILD_INTERFACE:${TASKQ_GENERATED_INCLUDE}>
		$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
	# Plain names, not imported targets: users of the installed package need
	# no PkgConfig:: targets of ours.
	target_link_libraries(${lib} PRIVATE ${URCU_LIBRARIES} Threads::Threads)
	add_library(taskq::${kind} ALIAS ${lib})
endforeach()

set_target_properties(taskq_static PROPERTIES EXPORT_NAME static)
set_target_properties(taskq_shared PROPERTIES EXPORT_NAME taskq INSTALL_RPATH ""
	VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${TASKQ_MAP})
target_link_options(taskq_shared PRIVATE -Wl,--version-script=${TASKQ_MAP})
if(NOT TASKQ_SANITIZE)
	target_link_options(taskq_shared PRIVATE -Wl,-z,defs)
endif()
