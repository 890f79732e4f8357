/*
 * fuzz_model: the whole front end on any text: parse, check types, lower,
 * validate, then some random steps. Whatever has no errors must give a
 * program that the validator accepts, and running it must stay in bounds.
 */
#ifndef INTACT_FUZZ_MODEL_H
#define INTACT_FUZZ_MODEL_H

#include <stddef.h>
#include <stdint.h>

void fuzz_model(const char *name, const uint8_t *data, size_t size);

#endif
