# SPDX-License-Identifier: MIT
# One page for each public function, which leads to libtaskq(3): `man tq_submit`.  The names
# are those of the headers.
file(GLOB headers CONFIGURE_DEPENDS include/taskq/*.h)
set(links ${PROJECT_BINARY_DIR}/man3)
file(REMOVE_RECURSE ${links})
foreach(header IN LISTS headers)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
	file(READ ${header} text)
	string(REGEX MATCHALL "\nTQ_API [^(;]*" declarations "${text}")
	foreach(declaration IN LISTS declarations)
		string(REGEX MATCH "tq_[a-z0-9_]+$" name "${declaration}")
		file(WRITE ${links}/${name}.3 ".so man3/libtaskq.3\n")
	endforeach()
endforeach()
install(DIRECTORY ${links} DESTINATION ${CMAKE_INSTALL_MANDIR})
