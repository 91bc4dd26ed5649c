/* minigraph.xml of SONiC: DeviceInterfaceLinks has what is plugged where, Devices what the boxes are. Links of consoles
 * and management ports are left out, and said. Source: sonic-buildimage, sonic-config-engine/minigraph.py, parse_png.
 */
#include "network_json.h"

#include "fab/xml_stream.h"

#define NAME    256
#define MEGABIT 1e6

enum { END_DEVICE, END_PORT, START_DEVICE, START_PORT, BANDWIDTH, ELEMENT_TYPE, FIELDS };

static const char *const FIELD_NAMES[FIELDS] = {"EndDevice", "EndPort",   "StartDevice",
                                                "StartPort", "Bandwidth", "ElementType"};

typedef struct minigraph_reader {
    fab_network *net;
    bool in_link, in_device;
    char field[FIELDS][NAME];
    char type[NAME], host[NAME]; /* of the device at hand */
} minigraph_reader;

static fab_status keep_text(const fab_xml_stream *at, char to[NAME], const char *text, fab_error *err) {
    FAB_RETURN_IF(strlen(text) >= NAME,
                  fab_xml_stream_wrong(at, err, "'%.40s...': a text of more than 255 bytes", text));
    memcpy(to, text, strlen(text) + 1);
    return FAB_OK;
}

static fab_status minigraph_on_start(void *context, const fab_xml_stream *at, const char *name, fab_error *err) {
    minigraph_reader *r = context;
    if (strcmp(name, "DeviceLinkBase") == 0) {
        memset(r->field, 0, sizeof r->field);
        r->in_link = true;
    } else if (strcmp(name, "Device") == 0) {
        const char *type = fab_xml_stream_attribute(at, "type");
        r->in_device = true;
        r->host[0] = '\0';
        return keep_text(at, r->type, type != NULL ? type : "", err);
    }
    return FAB_OK;
}

/* The kinds of minigraph that are boxes at the end of cables; what is not known the graph tells. */
static fab_network_kind kind_of(const char *type) {
    size_t n = strlen(type);
    bool is_router = n > 6 && strcmp(type + n - 6, "Router") == 0;
    return is_router || strcmp(type, "Asic") == 0 ? FAB_NETWORK_SWITCH
           : strcmp(type, "Server") == 0          ? FAB_NETWORK_HOST
                                                  : FAB_NETWORK_UNKNOWN;
}

static fab_status end_link(minigraph_reader *r, const fab_xml_stream *at, fab_error *err) {
    const fab_network_plug ends[2] = {{.box = r->field[START_DEVICE], .port = r->field[START_PORT]},
                                      {.box = r->field[END_DEVICE], .port = r->field[END_PORT]}};
    const char *type = r->field[ELEMENT_TYPE];
    const char *speed = r->field[BANDWIDTH];
    size_t digits = strspn(speed, "0123456789");
    bool is_speed = digits > 0 && digits < 10 && speed[digits] == '\0';
    r->in_link = false;
    if (type[0] != '\0' && strcmp(type, "DeviceInterfaceLink") != 0 && strcmp(type, "UnderlayInterfaceLink") != 0) {
        return fab_network_leave_out(r->net, 1, "links of consoles and management ports");
    }
    for (uint32_t i = 0; i < 2; i++) {
        FAB_RETURN_IF(ends[i].box[0] == '\0' || ends[i].port[0] == '\0',
                      fab_xml_stream_wrong(at, err, "a link without %s or %s",
                                           FIELD_NAMES[i == 0 ? START_DEVICE : END_DEVICE],
                                           FIELD_NAMES[i == 0 ? START_PORT : END_PORT]));
    }
    return fab_network_plug_in(r->net, &ends[0], &ends[1], is_speed ? strtod(speed, NULL) * MEGABIT : 0,
                               fab_xml_stream_line(at), err);
}

static fab_status minigraph_on_end(void *context, const fab_xml_stream *at, const char *name, const char *text,
                                   fab_error *err) {
    minigraph_reader *r = context;
    if (r->in_link && strcmp(name, "DeviceLinkBase") == 0) {
        return end_link(r, at, err);
    }
    for (size_t i = 0; r->in_link && i < FIELDS; i++) {
        if (strcmp(name, FIELD_NAMES[i]) == 0) {
            return keep_text(at, r->field[i], text, err);
        }
    }
    if (r->in_device && strcmp(name, "Hostname") == 0) {
        return keep_text(at, r->host, text, err);
    }
    if (r->in_device && strcmp(name, "Device") == 0) { /* behind the links: what has none is no box of the network */
        uint32_t node = fab_network_find(r->net, r->host, strlen(r->host));
        r->in_device = false;
        if (node != FAB_NETWORK_NONE && r->net->nodes[node].kind == FAB_NETWORK_UNKNOWN) {
            r->net->nodes[node].kind = kind_of(r->type);
        }
    }
    return FAB_OK;
}

static fab_status minigraph_read(const char *path, fab_network *net, fab_error *err) {
    static const fab_xml_visitor VISITOR = {minigraph_on_start, minigraph_on_end};
    minigraph_reader r = {.net = net};
    uint32_t n_before = net->n_cables;
    FAB_PASS(fab_xml_stream_read(path, &VISITOR, &r, err));
    return net->n_cables > n_before ? FAB_OK
                                    : fab_fail_in_file(err, path, 1, 1, "holds no link (DeviceLinkBase) between ports");
}

/* XML whose first element is DeviceMiniGraph. */
const fab_network_format fab_network_minigraph = {
    .name = "minigraph",
    .summary = "minigraph.xml of SONiC switches: a file or a folder of them",
    .begins = "^([^<]|<[?!][^-]|<!--([^-]|-[^-])*--+>)*<([^ >\t\r\n:?!]*:)?DeviceMiniGraph[ >\t\r\n]",
    .read = minigraph_read};
