/*
 * parse_atm: what the halves of the .atm parser share: types and declarations
 * (parse_atm.c), statements (parse_stmt.c).
 */
#ifndef INTACT_LANG_PARSE_ATM_H
#define INTACT_LANG_PARSE_ATM_H

#include "lang/parse.h"

/* Does a declaration begin here? A bare name followed by a name does. */
bool at_type(const struct parser *p);
struct type_ref *parse_type(struct parser *p);
/* The variables after a type, up to the ';'. */
struct decl *parse_declarators(struct parser *p, struct type_ref *ty, struct span cls_span, enum var_class cls, bool shared,
                               bool field);

/* parse_property.c: words that begin a declaration at the top level. */
bool at_property(struct parser *p);
struct decl *parse_property(struct parser *p);
bool at_ghost(struct parser *p);
bool at_pool(struct parser *p);
/* A struct or pool named by a word of the language: true after a message. */
bool at_reserved_name(struct parser *p);
/* parse_struct.c */
struct decl *parse_pool(struct parser *p);

/* parse_struct.c. `struct` is a word only where at_struct says so. */
bool at_struct(const struct parser *p);
struct type_ref *parse_struct(struct parser *p);
/* The initial value of d, after its '='. */
void parse_init(struct parser *p, struct decl *d);

struct stmt *stmt_new(struct parser *p, enum stmt_kind kind);
struct stmt *parse_block(struct parser *p);
struct stmt *parse_stmt(struct parser *p);
/* A condition in parentheses behind `word`. */
struct expr *parse_condition(struct parser *p, const char *word);
/* An assignment, increment or call, without its ';'. */
struct stmt *parse_simple(struct parser *p);
/* Variables of a thread or procedure, with the ';'. */
struct stmt *parse_local(struct parser *p);
/* A name that is not the beginning of an assignment to a variable of that name. */
bool at_statement_word(const struct parser *p);
/* parse_control.c: for, do and switch at the cursor, or NULL. They are words only there: elsewhere they are names. */
struct stmt *parse_control(struct parser *p);
/* A missing one at the end of a line is taken as written; in the middle of a
 * line the rest of the statement is skipped. */
void semicolon(struct parser *p, const char *behind);

#endif
