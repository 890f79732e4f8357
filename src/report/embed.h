/* embed: the files compiled in (tools/embed.py makes the C of them). */
#ifndef INTACT_REPORT_EMBED_H
#define INTACT_REPORT_EMBED_H

#include <stddef.h>

extern const unsigned char embed_schema[], embed_style[], embed_script[];
extern const size_t embed_schema_len, embed_style_len, embed_script_len;
/* "sha256-...", as a Content-Security-Policy has it. */
extern const char embed_style_hash[], embed_script_hash[];

#endif
