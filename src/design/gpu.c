/* GPUs from XML files. */
#include "fab/gpu.h"
#include "fab/builtin.h"
#include "field_schema.h"
#include "field_xml.h"

#include <stdio.h>
#include <string.h>

const char *const fab_precisions[] = {"auto",  "fp32",  "tf32", "bf16", "fp16", "fp8",
                                      "mxfp8", "nvfp4", "int8", "int4", NULL};

typedef struct gpu_file {
    fab_gpu gpu;
    unsigned precision; /* of the element being read, without auto */
    double tflops, ratio;
    const char *name;
} gpu_file;

#define PLACE(member) offsetof(gpu_file, member), sizeof(((gpu_file *)0)->member)

/* clang-format off */
#define ROW(element, key, kind, unit, member, min, max, initial, choices, summary) \
    {element, {SCOPE_BOOK, key, kind, unit, PLACE(member), min, max, false, initial, choices, NULL, summary}}

static const field_row ROWS[] = {
    ROW("gpu", "name", FIELD_WORD, FAB_UNIT_COUNT, gpu.name, 0, 0, NULL, NULL, "name of the GPU"),
    ROW("gpu", "memory", FIELD_QUANTITY, FAB_UNIT_BYTES, gpu.memory_bytes, 1, 1e15, NULL, NULL, "memory, in the GB of data sheets, which mean 2^30 bytes"),
    ROW("gpu", "bandwidth", FIELD_QUANTITY, FAB_UNIT_RATE, gpu.memory_bits_per_s, 1, 1e18, NULL, NULL, "rate of its memory"),
    ROW("gpu", "scale-up", FIELD_QUANTITY, FAB_UNIT_RATE, gpu.scale_up_bps, 1, 1e15, NULL, NULL, "rate of NVLink or what stands for it, per direction"),
    ROW("gpu", "power", FIELD_QUANTITY, FAB_UNIT_POWER, gpu.power_w, 0, 1e6, "0W", NULL, "power; left out: not published"),
    ROW("gpu", "multiprocessors", FIELD_COUNT, FAB_UNIT_COUNT, gpu.multiprocessors, 1, 65535, NULL, NULL, "multiprocessors, compute units or matrix units: tiles of a product computed at once"),
    ROW("gpu", "usd-per-hour", FIELD_DECIMAL, FAB_UNIT_COUNT, gpu.hour_usd, 0, 1e6, NULL, NULL, "price of one for an hour, its part of the server included"),
    ROW("precision", "name", FIELD_CHOICE, FAB_UNIT_COUNT, precision, 0, 0, NULL, fab_precisions + 1, "elements of the matrices"),
    ROW("precision", "tflops", FIELD_DECIMAL, FAB_UNIT_COUNT, tflops, 1e-3, 1e9, NULL, NULL, "dense peak of matrix products"),
    ROW("precision", "ratio", FIELD_DECIMAL, FAB_UNIT_COUNT, ratio, 0, 1, "0", NULL, "fitted part of the peak; left out: that of the compute model"),
};
static const field SOURCE = {SCOPE_BOOK, "source", FIELD_TEXT, FAB_UNIT_COUNT, PLACE(gpu.source), 0, 0, false, NULL, NULL, NULL,
                             "where the figures come from"};
static const field PRICE_SOURCE = {SCOPE_BOOK, "price-source", FIELD_TEXT, FAB_UNIT_COUNT, PLACE(gpu.price_source), 0, 0, false, NULL, NULL, NULL,
                                   "where the price comes from, or that it is assumed"};
/* clang-format on */
#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

static fab_status gpu_child(gpu_file *g, const fab_xml_element *at, fab_error *err) {
    fab_status status = FAB_OK;
    char where[FAB_XML_PLACE_SIZE];
    const field *text = strcmp(at->name, SOURCE.key) == 0         ? &SOURCE
                        : strcmp(at->name, PRICE_SOURCE.key) == 0 ? &PRICE_SOURCE
                                                                  : NULL;
    if ((text == NULL && strcmp(at->name, "precision") != 0) || at->uri != NULL) {
        FAB_TRY(fab_xml_fail_at(g->name, at, err, "unknown element of a GPU: ", at->name));
    }
    if (at->first_child != NULL) {
        FAB_TRY(fab_xml_fail_at(g->name, at->first_child, err, "no element may stand inside ", at->name));
    }
    (void)fab_xml_place(where, g->name, at->line, at->column);
    FAB_TRY(field_read_attributes(ROWS, N_ROWS, at, g->name, g, err));
    if (text != NULL) {
        if (((const char *)g)[text->offset] != '\0') {
            FAB_TRY(fab_xml_fail_at(g->name, at, err, "a GPU has this element once: ", at->name));
        }
        FAB_TRY(field_set(text, g, at->text, where, err));
    } else if (at->text[0] != '\0') {
        FAB_TRY(fab_xml_fail_at(g->name, at, err, "unexpected text inside ", at->name));
    } else if (g->gpu.flops[g->precision + 1] > 0) {
        FAB_TRY(fab_xml_fail_at(g->name, at, err,
                                "the GPU has this precision already: ", fab_precisions[g->precision + 1]));
    } else {
        g->gpu.flops[g->precision + 1] = g->tflops * 1e12;
        g->gpu.matrix_ratio[g->precision + 1] = g->ratio;
    }
done:
    return status;
}

static fab_status gpu_parse(gpu_file *g, const char *data, size_t size, fab_error *err) {
    fab_status status = FAB_OK;
    fab_xml *xml = NULL;
    const fab_xml_element *root = NULL;
    FAB_TRY(fab_xml_parse(data, size, g->name, &xml, err));
    FAB_TRY(fab_xml_root_called(xml, g->name, "gpu", "the file of a GPU begins with <gpu>", &root, err));
    FAB_TRY(field_read_attributes(ROWS, N_ROWS, root, g->name, g, err));
    for (const fab_xml_element *child = root->first_child; child != NULL; child = child->next) {
        FAB_TRY(gpu_child(g, child, err));
    }
    if (g->gpu.source[0] == '\0' || g->gpu.price_source[0] == '\0') {
        FAB_TRY(fab_xml_fail_at(g->name, root, err, "the GPU lacks the text of the element ",
                                g->gpu.source[0] == '\0' ? SOURCE.key : PRICE_SOURCE.key));
    }
    if (g->gpu.flops[FAB_BF16] <= 0 && g->gpu.flops[FAB_FP16] <= 0) {
        FAB_TRY(fab_xml_fail_at(g->name, root, err, "the GPU has neither precision: bf16, fp16", ""));
    }
done:
    fab_xml_free(xml);
    return status;
}

static fab_status fail_unknown_gpu(const char *text, const char *where, fab_error *err) {
    char hint[FAB_CHOICES_TEXT];
    char name[FAB_NAME_SIZE];
    fab_choices near;
    fab_choices_init(&near, text);
    for (const fab_builtin *b = fab_builtin_gpus; b->name != NULL; b++) {
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(b->name, "."), b->name);
        fab_choices_offer(&near, name);
    }
    return fab_fail(err, FAB_EINPUT, where, "there is no GPU '%.60s'%s (or a file: with '/' or ending in .xml)", text,
                    fab_choices_list(&near, "known:", hint));
}

fab_status fab_gpu_read(const char *text, const char *where, fab_gpu *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str data = FAB_STR_INIT;
    gpu_file g = {.name = text};
    char file[FAB_XML_PLACE_SIZE];
    size_t length = strlen(text);
    if (strchr(text, '/') != NULL || (length > 4 && strcmp(text + length - 4, ".xml") == 0)) {
        FAB_TRY(fab_read_file(text, FAB_XML_MAX_BYTES, &data, err));
        FAB_TRY(gpu_parse(&g, data.data, data.length, err));
    } else {
        const fab_builtin *builtin = length > 0 ? fab_builtin_find(fab_builtin_gpus, text) : NULL;
        if (builtin == NULL) {
            return fail_unknown_gpu(text, where, err);
        }
        (void)snprintf(file, sizeof file, "gpu:%.60s", text);
        g.name = file;
        FAB_TRY(gpu_parse(&g, builtin->data, builtin->size, err));
    }
    *out = g.gpu;
done:
    fab_str_release(&data);
    return status;
}

const char *fab_gpu_precisions(const fab_gpu *gpu, bool names_only, char *out) {
    size_t n = 0;
    out[0] = '\0';
    for (int p = FAB_FP32; p < FAB_N_PRECISIONS && n < 192; p++) {
        if (gpu->flops[p] > 0) {
            n += (size_t)snprintf(out + n, 192 - n, "%s%s", n > 0 ? ", " : "", fab_precisions[p]);
        }
        if (gpu->flops[p] > 0 && !names_only && n < 192) {
            n += (size_t)snprintf(out + n, 192 - n, " %.5g", gpu->flops[p] * 1e-12);
        }
    }
    return out;
}

fab_status fab_gpu_resolve(const fab_gpu *gpu, fab_precision wanted, const char *where, fab_precision *out,
                           fab_error *err) {
    char has[192];
    fab_precision found = wanted != FAB_PRECISION_AUTO ? wanted : fab_gpu_wide(gpu, FAB_FP8);
    if (gpu->flops[found] <= 0) {
        return fab_fail(err, FAB_EINPUT, where, "precision: %s has no %s; it has %s", gpu->name, fab_precisions[found],
                        fab_gpu_precisions(gpu, true, has));
    }
    *out = found;
    return FAB_OK;
}

fab_precision fab_gpu_wide(const fab_gpu *gpu, fab_precision precision) {
    return precision < FAB_FP8 ? precision : gpu->flops[FAB_BF16] > 0 ? FAB_BF16 : FAB_FP16;
}

double fab_precision_bytes(fab_precision precision) {
    static const double BYTES[FAB_N_PRECISIONS] = {2, 4, 4, 2, 2, 1, 1 + 1.0 / 32, 0.5 + 1.0 / 16, 1, 0.5};
    return BYTES[precision];
}

void fab_gpu_schema(fab_str *out) {
    schema_begin(out, "GPU: what its data sheet says, and its price.");
    fab_str_add(out, "  <xs:element name=\"gpu\">\n    <xs:complexType>\n      <xs:choice maxOccurs=\"unbounded\">\n");
    schema_text_element(out, 8, SOURCE.key, &SOURCE, false);
    schema_text_element(out, 8, PRICE_SOURCE.key, &PRICE_SOURCE, false);
    fab_str_add(out, "        <xs:element name=\"precision\">\n          <xs:complexType>\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        if (strcmp(ROWS[i].element, "precision") == 0) {
            schema_attribute(out, 12, &ROWS[i].field, false, ROWS[i].field.initial == NULL);
        }
    }
    fab_str_add(out, "          </xs:complexType>\n        </xs:element>\n      </xs:choice>\n");
    for (size_t i = 0; strcmp(ROWS[i].element, "gpu") == 0; i++) {
        schema_attribute(out, 6, &ROWS[i].field, false, ROWS[i].field.initial == NULL);
    }
    fab_str_add(out, "    </xs:complexType>\n  </xs:element>\n");
    schema_end(out);
}
