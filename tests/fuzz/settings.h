/**
 * @file settings.h
 * Mutations of designs as what they are: keys of the table of fields and values of their kinds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** What stands between settings, and before a key: those of a one-line design with overrides, or of a canonical text.
 */
typedef enum settings_form { SETTINGS_ONE_LINE, SETTINGS_CANONICAL } settings_form;

/**
 * Adds a setting, gives one another value, drops, repeats or moves one, or takes another family: one to three of these.
 * @return bytes in `data`, at most `most`.
 */
size_t fuzz_mutate_settings(settings_form form, uint8_t *data, size_t size, size_t most, unsigned seed);

/** Of libFuzzer, or of replay.c: some bytes changed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
