/** What every file may use without naming it: statuses and the statements around them, memory, orders, and of the C
 * library numbers and how they are printed, texts, and mathematics. Headers pass it on. */
#pragma once

#include "fab/memory.h"
#include "fab/order.h"

#include <inttypes.h>
#include <math.h>
