# SPDX-License-Identifier: MIT
# tqi_layer(NAME SOURCES...): one layer of the library as an OBJECT library.
function(tqi_layer name)
	set(sources ${ARGN})
	if(NOT sources)
		# CMake refuses an OBJECT library without a source.
		set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c)
		file(CONFIGURE OUTPUT ${sources} CONTENT "extern int @name@_is_empty;\n" @ONLY)
	endif()
	add_library(${name} OBJECT ${sources})
	set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_include_directories(${name} PRIVATE
		${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${TASKQ_GENERATED_INCLUDE})
endfunction()

# What every task goes through is compiled with -O3, but for debugging (docs/decisions/0031).
function(tqi_hot)
	set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endfunction()
