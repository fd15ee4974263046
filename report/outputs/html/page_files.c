/*
 * Includes the page's files as strings. The assembler reads them; the Makefile lists them as
 * dependencies of this one.
 */
#include "report/outputs/html/page_data.h"

#define BEGIN(symbol)            \
	".pushsection .rodata\n" \
	".globl " symbol "\n"    \
	".type " symbol ", @object\n" symbol ":\n"
#define FILE_OF(name) ".incbin \"report/outputs/html/" name "\"\n"
#define END(symbol)                          \
	".byte 0\n"                          \
	".size " symbol ", . - " symbol "\n" \
	".popsection\n"

__asm__(BEGIN("mt_page_skeleton") FILE_OF("page.html") END("mt_page_skeleton"));
__asm__(BEGIN("mt_page_style") FILE_OF("page.css") END("mt_page_style"));
__asm__(BEGIN("mt_page_script") FILE_OF("data.js") FILE_OF("model.js") FILE_OF("graph.js")
		FILE_OF("lists.js") FILE_OF("timeline.js") FILE_OF("page.js")
			END("mt_page_script"));
