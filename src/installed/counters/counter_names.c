/* What tools and exporters call the counters of a port. Names are compared by their letters and digits alone, so that
 * PortXmitData, port_xmit_data and port-xmit-data are one. */
#include "counters_internal.h"

const fab_counter_about fab_counter_abouts[FAB_COUNTER_N] = {
    [FAB_COUNTER_SENT] = {"sent", "bytes sent", false},
    [FAB_COUNTER_RECEIVED] = {"received", "bytes received", false},
    [FAB_COUNTER_WAIT] = {"wait", "ticks with data that could not be sent", false},
    [FAB_COUNTER_SYMBOL_ERRORS] = {"symbol-errors", "symbol errors", true},
    [FAB_COUNTER_FEC_CORRECTED] = {"fec-corrected", "blocks that FEC corrected", false},
    [FAB_COUNTER_FEC_LOST] = {"fec-lost", "blocks that FEC could not correct", true},
    [FAB_COUNTER_RECEIVE_ERRORS] = {"receive-errors", "packets received with errors", true},
    [FAB_COUNTER_DISCARDS] = {"discards", "packets discarded before they were sent", true},
    [FAB_COUNTER_LINK_DOWNED] = {"link-downed", "times that the link went down", true},
    [FAB_COUNTER_LINK_RECOVERED] = {"link-recovered", "times that the link had to recover", true},
    [FAB_COUNTER_PAUSES_SENT] = {"pauses-sent", "pause frames sent", false},
    [FAB_COUNTER_PAUSES_RECEIVED] = {"pauses-received", "pause frames received", false},
    [FAB_COUNTER_CONGESTION] = {"congestion", "packets marked for congestion", false},
    [FAB_COUNTER_OUT_OF_SEQUENCE] = {"out-of-sequence", "packets received out of sequence", true},
};

/* What tools call them: perfquery, ibdiagnet and sysfs; exporters of InfiniBand; node_exporter; SONiC, gNMI
 * (OpenConfig) and SNMP; this program. Scale 4: counted in words of four bytes. */
static const struct counter_name {
    fab_counter counter;
    uint8_t scale;
    const char *names;
} NAMES[] = {
    {FAB_COUNTER_SENT, 4, " portxmitdata portxmitdata64 "},
    {FAB_COUNTER_RECEIVED, 4, " portrcvdata portrcvdata64 "},
    {FAB_COUNTER_WAIT, 1, " portxmitwait transmitwait porttransmitwait wait xmitwait "},
    {FAB_COUNTER_SYMBOL_ERRORS, 1, " symbolerrorcounter symbolerror symbolerrors ifinfecsymbolerrors insymbolerrors "},
    {FAB_COUNTER_LINK_RECOVERED, 1, " linkerrorrecoverycounter linkerrorrecovery linkrecovered "},
    {FAB_COUNTER_LINK_DOWNED, 1, " linkdownedcounter linkdowncounter linkdowned carriertransitions "},
    {FAB_COUNTER_RECEIVE_ERRORS, 1, " portrcverrors receiveerrors porterrorsreceived receiveerrs ifinerrors inerrors "},
    {FAB_COUNTER_DISCARDS, 1, " portxmitdiscards portxmitdiscard transmitdiscards portdiscardstransmitted "},
    {FAB_COUNTER_DISCARDS, 1, " transmitdrop ifoutdiscards outdiscards discards "},
    {FAB_COUNTER_FEC_CORRECTED, 1, " feccorrectableblockcounter portfeccorrectableblockcounter "},
    {FAB_COUNTER_FEC_CORRECTED, 1, " ifinfeccorrectableframes feccorrectedblocks feccorrectedwords feccorrected "},
    {FAB_COUNTER_FEC_LOST, 1, " fecuncorrectableblockcounter portfecuncorrectableblockcounter "},
    {FAB_COUNTER_FEC_LOST, 1, " ifinfecnotcorrectableframes fecuncorrectableblocks fecuncorrectablewords "},
    {FAB_COUNTER_FEC_LOST, 1, " feclost "},
    {FAB_COUNTER_OUT_OF_SEQUENCE, 1, " outofsequence packetseqerr "},
    {FAB_COUNTER_CONGESTION, 1, " npecnmarkedrocepackets ecnmarkedpackets congestion "},
    {FAB_COUNTER_SENT, 1, " transmitdatabytes portdatatransmittedbytes transmitbytes ifoutoctets "},
    {FAB_COUNTER_SENT, 1, " ifhcoutoctets outoctets sent sentbytes txbytes xmitbytes "},
    {FAB_COUNTER_RECEIVED, 1, " receivedatabytes portdatareceivedbytes receivebytes ifinoctets ifhcinoctets "},
    {FAB_COUNTER_RECEIVED, 1, " inoctets received receivedbytes rxbytes rcvbytes "},
    {FAB_COUNTER_PAUSES_SENT, 1, " outmacpauseframes pausessent "},
    {FAB_COUNTER_PAUSES_RECEIVED, 1, " inmacpauseframes pausesreceived "},
};

#define NAME 80 /* letters and digits of a name that are looked at */

/* Where a word stands at the begin; then moves behind it. */
static void drop_prefix(const char **at, size_t *n, const char *word) {
    size_t length = strlen(word);
    if (*n > length && memcmp(*at, word, length) == 0) {
        *at += length;
        *n -= length;
    }
}

static void drop_suffix(const char *at, size_t *n, const char *word) {
    size_t length = strlen(word);
    if (*n > length && memcmp(at + *n - length, word, length) == 0) {
        *n -= length;
    }
}

/* SAI_PORT_STAT_PFC_3_RX_PKTS, rx_prio3_pause: one of several priorities. */
static bool find_pause(const char *at, size_t n, fab_counter *out) {
    bool is_sai = n == 10 && memcmp(at, "pfc", 3) == 0 && memcmp(at + 6, "pkts", 4) == 0;
    bool is_driver = n == 12 && memcmp(at + 2, "prio", 4) == 0 && memcmp(at + 7, "pause", 5) == 0;
    const char *way = is_sai ? at + 4 : at;
    if ((!is_sai && !is_driver) || (memcmp(way, "rx", 2) != 0 && memcmp(way, "tx", 2) != 0)) {
        return false;
    }
    *out = way[0] == 'r' ? FAB_COUNTER_PAUSES_RECEIVED : FAB_COUNTER_PAUSES_SENT;
    return true;
}

bool fab_counter_find(fab_token name, fab_counter *out, uint8_t *out_scale) {
    static const char *const PREFIXES[] = {"nodeinfiniband",    "nodenetwork", "infinibandswitchport",
                                           "infinibandhcaport", "infiniband",  "saiportstat"};
    char letters[NAME];
    size_t length = 0;
    for (size_t i = 0; i < name.length && length < NAME; i++) {
        char c = name.text[i] >= 'A' && name.text[i] <= 'Z' ? (char)(name.text[i] - 'A' + 'a') : name.text[i];
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            letters[length++] = c;
        }
    }
    const char *at = letters;
    for (size_t i = 0; i < FAB_N_OF(PREFIXES); i++) {
        size_t before = length;
        drop_prefix(&at, &length, PREFIXES[i]);
        if (length != before) {
            break;
        }
    }
    size_t n_all = length;
    drop_suffix(at, &length, "extended");
    drop_suffix(at, &length, "ext");
    uint8_t is_long = n_all != length ? FAB_COUNTER_LONG : 0;
    drop_suffix(at, &length, "total");
    *out_scale = 1;
    if (find_pause(at, length, out)) {
        return true;
    }
    char word[NAME + 3];
    FAB_FORMAT(word, " %.*s ", (int)length, at);
    for (size_t i = 0; length > 0 && i < FAB_N_OF(NAMES); i++) {
        if (strstr(NAMES[i].names, word) != NULL) {
            *out = NAMES[i].counter;
            *out_scale = (uint8_t)(NAMES[i].scale | is_long);
            return true;
        }
    }
    return false;
}
