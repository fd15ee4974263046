/*
 * Includes flame.js as a string. The assembler reads the file; the Makefile lists it as a
 * dependency of this one.
 */
#include "report/outputs/flame/flame_script.h"

__asm__(".pushsection .rodata\n"
	".globl mt_flame_script\n"
	".type mt_flame_script, @object\n"
	"mt_flame_script:\n"
	".incbin \"report/outputs/flame/flame.js\"\n"
	".byte 0\n"
	".size mt_flame_script, . - mt_flame_script\n"
	".popsection\n");
