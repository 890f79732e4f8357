/*
 * document_text: a document as the text that its command printed.
 */
#ifndef INTACT_API_DOCUMENT_TEXT_H
#define INTACT_API_DOCUMENT_TEXT_H

#include "report/render.h"

/* The document meets the schema. One that was altered (its model does not load, a run is
 * not one of the model) is told as a list of answers. */
void document_text(const json_t *doc, const struct render_text_options *o, struct buf *out);

#endif
