#include "fab/choices.h"
#include "fab/base.h"

#include <ctype.h>

#define LONGEST           63
#define AS_BEGINNING      2 /* distance of a name that begins with the word, where its letters are further away */
#define AS_PART           3 /* of one that has the word as a part */
#define LEAST_PART        3 /* letters; shorter words are part of too much */
#define LETTERS_PER_ERROR 3
#define TOO_FAR           SIZE_MAX

/* Other words of the field, without case, blanks, - and _, and what they are called here. */
static const struct {
    const char *word, *name;
} OTHER_WORDS[] = {
    {"oversubscription", "taper"},
    {"oversub", "taper"},
    {"blocking", "taper"},
    {"spines", "taper"},
    {"rails", "nics-per-server"},
    {"cores", "taper"},
    {"uplinks", "taper"},
    {"leaves", "radix"},
    {"leafs", "radix"},
    {"railoptimized", "rail-spine"},
    {"railoptimised", "rail-spine"},
    {"leafspine", "clos"},
    {"spineleaf", "clos"},
    {"twotier", "clos"},
    {"kary", "fat-tree"},
    {"levels", "tiers"},
    {"layers", "tiers"},
    {"ports", "radix"},
    {"switchradix", "radix"},
    {"portspeed", "port"},
    {"portrate", "port"},
    {"linkspeed", "port"},
    {"linkrate", "port"},
    {"link", "port"},
    {"rate", "port"},
    {"speed", "port"},
    {"bandwidth", "port"},
    {"nicrate", "nic"},
    {"nicspeed", "nic"},
    {"nvlink", "domain-rate"},
    {"nvl", "domain"},
    {"hbd", "domain"},
    {"scaleup", "domain"},
    {"gpuspernode", "gpus-per-server"},
    {"nicspernode", "nics-per-server"},
    {"tensorparallel", "tp"},
    {"pipelineparallel", "pp"},
    {"dataparallel", "dp"},
    {"expertparallel", "ep"},
    {"contextparallel", "cp"},
    {"globalbatch", "batch"},
    {"globalbatchsize", "batch"},
    {"gbs", "batch"},
    {"mbs", "microbatch"},
    {"microbatchsize", "microbatch"},
    {"virtualpipeline", "interleave"},
    {"vpp", "interleave"},
    {"zerostage", "zero"},
    {"fsdp", "zero"},
    {"hsdp", "shard-over"},
    {"lora", "lora-rank"},
    {"sequencelength", "seq"},
    {"qps", "qp"},
    {"queuepairs", "qp"},
    {"ar", "adaptive"},
    {"adaptiverouting", "adaptive"},
    {"packetspray", "spray"},
    {"packetspraying", "spray"},
    {"rps", "spray"},
    {"updown", "updn"},
    {"ftree", "dmodk"},
    {"destinationmod", "dmodk"},
    {"lft", "file"},
    {"size", "bytes"},
    {"msgsize", "bytes"},
    {"messagesize", "bytes"},
    {"a2a", "all-to-all"},
    {"random", "permutation"},
    {"bcast", "broadcast"},
    {"cables", "links"},
    {"nodes", "servers"},
    {"hosts", "servers"},
    {"tors", "switches"},
    {"jct", "time_s"},
    {"steptime", "time_s"},
    {"iterationtime", "time_s"},
    {"straggler", "slowdown_ratio"},
    {"stragglers", "slowdown_ratio"},
    {"capex", "total_usd"},
    {"mfu", "mfu_ratio"},
    {"simulate", "run"},
    {"compare", "cost"},
    {"bom", "cost"},
    {"price", "cost"},
};

#define LEAVES "Leaves follow from gpus, radix and taper: those that taper have ports for more GPUs; build counts them."

/* What is no key, but comes of several. */
static const struct {
    const char *word, *note;
} NOTES[] = {
    {"spines",
     "Spines follow from gpus, radix and taper: about gpus / radix / taper of them in two tiers; build counts "
     "them."},
    {"cores", "Cores follow from gpus, radix and the tapers below them (taper=1/2); build counts them."},
    {"uplinks", "Uplinks of a switch are its downlinks / taper, where their rates are the same."},
    {"leaves", LEAVES},
    {"leafs", LEAVES},
    {"rails", "Rails follow from nics-per-server: a server has one per NIC (with gpus-per-server: 1 GPU, or several, "
              "for each)."},
};

/* Without blanks, - and _, in lower case; what is too long is "". */
static void fold(const char *text, char out[LONGEST + 1]) {
    size_t n = 0;
    for (; *text != '\0'; text++) {
        if (strchr("-_ ", *text) != NULL) {
            continue;
        }
        if (n == LONGEST) {
            n = 0;
            break;
        }
        out[n++] = (char)tolower((unsigned char)*text);
    }
    out[n] = '\0';
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with their neighbour. */
static size_t letters_apart(const char *a, const char *b) {
    size_t n_a = strlen(a);
    size_t n_b = strlen(b);
    size_t d[LONGEST + 1][LONGEST + 1]; /* as much of it as is needed is written before it is read */
    for (size_t i = 0; i <= n_a; i++) {
        for (size_t j = 0; j <= n_b; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[n_a][n_b];
}

static bool is_other_word(const char *word, const char *name) {
    FAB_ANY(found, i, FAB_N_OF(OTHER_WORDS),
            strcmp(OTHER_WORDS[i].word, word) == 0 && strcmp(OTHER_WORDS[i].name, name) == 0);
    return found;
}

/* Whether `word` stands in `name` between what is no letter or digit. */
static bool is_part(const char *word, const char *name) {
    size_t n = strlen(word);
    for (const char *at = strstr(name, word); n >= LEAST_PART && at != NULL; at = strstr(at + 1, word)) {
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n])) {
            return true;
        }
    }
    return false;
}

static size_t distance(const char *word, const char *name) {
    char a[LONGEST + 1];
    char b[LONGEST + 1];
    fold(word, a);
    fold(name, b);
    if (a[0] == '\0' || b[0] == '\0') {
        return TOO_FAR;
    }
    if (is_other_word(a, name + strspn(name, "-"))) {
        return 0;
    }
    size_t n_a = strlen(a);
    size_t longest = n_a > strlen(b) ? n_a : strlen(b);
    size_t d = letters_apart(a, b);
    bool is_near = d <= longest / LETTERS_PER_ERROR || (d == 1 && n_a > 1);
    if (n_a >= LEAST_PART && strncmp(a, b, n_a) == 0) {
        return least(d, AS_BEGINNING);
    }
    if (is_part(word + strspn(word, "-"), name)) {
        return least(d, AS_PART);
    }
    return is_near ? d : TOO_FAR;
}

fab_choices fab_choices_of(const char *word) {
    return (fab_choices){.word = word, .distance = TOO_FAR};
}

void fab_choices_offer(fab_choices *c, const char *name) {
    size_t d = distance(c->word, name);
    if (d < c->distance) {
        c->distance = d;
        FAB_FORMAT(c->best, "%s", name);
    }
    const char *comma = c->length > 0 ? ", " : "";
    if (!c->is_cut && c->length + strlen(comma) + strlen(name) < sizeof c->all) {
        c->length += (size_t)snprintf(c->all + c->length, sizeof c->all - c->length, "%s%s", comma, name);
    } else {
        c->is_cut = true;
    }
}

const char *fab_choices_hint(fab_choices *c) {
    bool is_near = c->best[0] != '\0';
    char word[LONGEST + 1];
    const char *note = NULL;
    fold(c->word, word);
    for (size_t i = 0; c->distance == 0 && i < FAB_N_OF(NOTES); i++) {
        note = strcmp(NOTES[i].word, word) == 0 ? NOTES[i].note : note;
    }
    FAB_FORMAT(c->text, "%s%s%s%s%s", is_near ? "; did you mean '" : "", c->best, is_near ? "'?" : "",
               note != NULL ? " " : "", note != NULL ? note : "");
    return c->text;
}

/* A list that is too long ends with a whole word and dots. */
static void end_at_a_word(char *text) {
    static const char DOTS[] = ", ...";
    size_t room = FAB_CHOICES_TEXT - sizeof DOTS;
    if (strlen(text) > room) {
        text[room] = '\0';
    }
    char *comma = strrchr(text, ',');
    char *end = comma != NULL ? comma : text + strlen(text);
    memcpy(end, DOTS, sizeof DOTS);
}

const char *fab_choices_list(fab_choices *c, const char *label) {
    size_t used = strlen(fab_choices_hint(c));
    int n = snprintf(c->text + used, sizeof c->text - used, "%s %s %s", used > 0 ? "" : ";", label, c->all);
    if (c->is_cut || (n >= 0 && (size_t)n >= sizeof c->text - used)) {
        end_at_a_word(c->text);
    }
    return c->text;
}
