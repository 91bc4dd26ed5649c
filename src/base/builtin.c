#include "fab/builtin.h"
#include "fab/base.h"

const fab_builtin *fab_builtin_find(const fab_builtin *table, const char *name) {
    size_t n = strlen(name);
    for (const fab_builtin *entry = table; entry->name != NULL; entry++) {
        if (strncmp(entry->name, name, n) == 0 &&
            (entry->name[n] == '\0' || strchr(entry->name + n, '.') == entry->name + n)) {
            return entry;
        }
    }
    return NULL;
}

void fab_builtin_offer(const fab_builtin *table, fab_choices *near) {
    for (const fab_builtin *entry = table; entry->name != NULL; entry++) {
        char name[64];
        FAB_FORMAT(name, "%.*s", (int)strcspn(entry->name, "."), entry->name);
        fab_choices_offer(near, name);
    }
}
