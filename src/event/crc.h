/*
 * crc: CRC-32 (IEEE) of a block's bytes. A recording is written at the speed of
 * the program it records, and its checksum is a fifth of that work with tables;
 * where the processor multiplies without carries it is next to nothing.
 */
#ifndef INTACT_EVENT_CRC_H
#define INTACT_EVENT_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc_of(const void *data, size_t len);

#endif
