# SPDX-License-Identifier: MIT
# Language, warnings and link flags of everything in the tree.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# RelWithDebInfo is -O2 -g with NDEBUG; Debug keeps the asserts.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")

add_compile_definitions(_GNU_SOURCE)
add_compile_options(
	-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> -Wvla -Wformat=2
	-Wcast-qual -Wimplicit-fallthrough
	$<$<COMPILE_LANG_AND_ID:C,Clang>:-Wmissing-variable-declarations>)
if(TASKQ_WERROR)
	add_compile_options(-Werror)
endif()

# Eager binding: a crash test that counts instructions must not step through
# the dynamic linker, and no hold of the lock may end up in it.
add_link_options(-Wl,-z,now,-z,relro)

if(TASKQ_SANITIZE)
	add_compile_options(-O1 -fno-omit-frame-pointer
		-fsanitize=${TASKQ_SANITIZE} -fno-sanitize-recover=all)
	add_link_options(-fsanitize=${TASKQ_SANITIZE})
endif()
