/*
 * The script of a flame graph: the text of flame.js.
 */
#ifndef MT_REPORT_OUTPUTS_FLAME_FLAME_SCRIPT_H
#define MT_REPORT_OUTPUTS_FLAME_FLAME_SCRIPT_H

/* NUL-terminated; without "]]>", so that a CDATA section can hold it. */
extern const char mt_flame_script[];

#endif
