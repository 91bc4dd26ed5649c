/**
 * @file crc32.h
 * The hashes that switches compute.
 */
#ifndef FAB_CRC32_H
#define FAB_CRC32_H

#include <stddef.h>
#include <stdint.h>

/** CRC-32 of IEEE 802.3 (reflected polynomial 0xEDB88320, initial value and final xor all ones): "123456789" gives
 * 0xCBF43926. */
uint32_t fab_crc32(const uint8_t *bytes, size_t n);

#endif
