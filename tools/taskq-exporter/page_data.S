/* SPDX-License-Identifier: MIT */
/* The page, as bytes of the program. */
	.section .rodata
	.global page_begin
	.global page_end
page_begin:
	.incbin TASKQ_PAGE
page_end:
	.byte 0

	.section .note.GNU-stack,"",%progbits
