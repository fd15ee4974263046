/*
 * The page's own files: its skeleton, style and scripts, as texts.
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_FILES_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_FILES_H

/* NUL-terminated. The skeleton has lines "@style", "@data" and "@script" where the others go. */
extern const char mt_page_skeleton[];
extern const char mt_page_style[];

/* All scripts, in the order in which they run. */
extern const char mt_page_script[];

#endif
