/**
 * @file draws.h
 * How many random instances a test draws.
 */
#ifndef DRAWS_H
#define DRAWS_H

/** All n where figures are checked; one in FAB_TEST_SHARE (tests/CMakeLists.txt) where a sanitizer is to see memory. */
#define DRAWS(n) ((n) / FAB_TEST_SHARE)

#endif
