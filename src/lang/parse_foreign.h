/*
 * parse_foreign: what a C programmer writes and the model language does not have. One message with a hint, and as much of it
 * read as makes sense, so that it does not cause further messages about the rest of the model.
 */
#ifndef INTACT_LANG_PARSE_FOREIGN_H
#define INTACT_LANG_PARSE_FOREIGN_H

#include "lang/parse.h"

/* struct, union, typedef at the cursor: reported and skipped, with what they declare. */
bool foreign_declaration(struct parser *p);
/* unsigned int, static int, volatile bool, ...: reports the words that do not exist and skips them; a type is left at the cursor. */
void foreign_qualifiers(struct parser *p);
/* The '*' of a pointer's declaration, the '&' of an address: reported and skipped. */
void foreign_pointer(struct parser *p);
void foreign_address(struct parser *p);
/* What to use instead of a type that is not declared, or of a call; NULL: nothing comes to mind. */
const char *foreign_type_hint(const char *name);
const char *foreign_call_hint(const char *name);

#endif
