/* Traffic matrices: round trips in both formats, and malformed files with their exact place. */
#include "fab/design.h"
#include "fab/rng.h"
#include "traffic_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct temporary {
    char path[64];
    char text[80]; /* file:PATH */
} temporary;

static temporary file_with(const char *bytes, size_t n) {
    temporary t;
    (void)snprintf(t.path, sizeof t.path, "/tmp/fab-matrix-XXXXXX");
    int fd = mkstemp(t.path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
    (void)close(fd);
    (void)snprintf(t.text, sizeof t.text, "file:%s", t.path);
    return t;
}

static fab_traffic read_text(const char *bytes, const fab_fabric *fabric) {
    temporary t = file_with(bytes, strlen(bytes));
    fab_traffic traffic = traffic_made(t.text, NULL, fabric, 1);
    (void)unlink(t.path);
    cr_assert_eq(traffic.n_phases, 1);
    traffic_check_phase(&traffic.phases[0], fabric);
    return traffic;
}

static char *written(const fab_phase *phase, uint32_t n_gpus, fab_matrix_format format) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fab_error err = {.code = FAB_OK};
    cr_assert_eq(fab_matrix_write(phase, n_gpus, format, out, &err), FAB_OK, "%s", err.text);
    (void)fclose(out);
    return text;
}

Test(matrix, text_of_both_formats) {
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    fab_traffic traffic = read_text("src,dst,bytes\n3,0,7\n0,2,5\n3,0,1\n0,1,18014398509481985\n", &fabric);
    cr_expect_eq(traffic.phases[0].n_flows, 4); /* the same pair twice: two flows */
    char *csv = written(&traffic.phases[0], 4, FAB_MATRIX_CSV);
    char *market = written(&traffic.phases[0], 4, FAB_MATRIX_MARKET);
    cr_expect_str_eq(csv, "src,dst,bytes\n0,1,18014398509481985\n0,2,5\n3,0,8\n");
    cr_expect_str_eq(market, "%%MatrixMarket matrix coordinate integer general\n"
                             "% bytes from GPU (row) to GPU (column), numbered from 1\n"
                             "4 4 3\n1 2 18014398509481985\n1 3 5\n4 1 8\n");
    free(csv);
    free(market);
    fab_traffic_release(&traffic);
}

/* Flows of a pair are numbered in the order of the file; entries that are dropped do not count. */
Test(matrix, ordinals_of_repeated_pairs) {
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    fab_traffic traffic = read_text("src,dst,bytes\n3,0,7\n0,3,5\n3,0,1\n3,0,0\n0,1,1\n0,3,5\n3,0,9\n3,1,2\n", &fabric);
    static const uint32_t EXPECTED[] = {0, 0, 1, 0, 1, 2, 0};
    cr_assert_eq(traffic.phases[0].n_flows, COUNT(EXPECTED));
    cr_assert_not_null(traffic.phases[0].ordinal);
    for (uint32_t i = 0; i < COUNT(EXPECTED); i++) {
        cr_expect_eq(fab_phase_flow(&traffic.phases[0], i).ordinal, EXPECTED[i], "flow %u", i);
    }
    fab_traffic_release(&traffic);
    static const char *const WITHOUT[] = {"src,dst,bytes\n0,1,5\n0,2,5\n3,0,1\n",
                                          "src,dst,bytes\n3,0,1\n0,2,5\n0,1,5\n2,0,1\n", "src,dst,bytes\n"};
    for (size_t i = 0; i < COUNT(WITHOUT); i++) {
        traffic = read_text(WITHOUT[i], &fabric);
        cr_expect_null(traffic.phases[0].ordinal, "%zu", i);
        fab_traffic_release(&traffic);
    }
}

/* Many flows over few pairs, compared with a count per pair. */
Test(matrix, ordinals_of_many_flows) {
    fab_fabric fabric = traffic_fabric(64, 1, 1);
    char *text = malloc(20000 * 16);
    cr_assert_not_null(text);
    size_t n = (size_t)snprintf(text, 16, "src,dst,bytes\n");
    uint64_t state = 7;
    for (uint32_t i = 0; i < 20000; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        uint32_t src = (uint32_t)(state >> 40) % 64;
        uint32_t dst = (src + 1 + (uint32_t)(state >> 50) % 63) % 64;
        n += (size_t)snprintf(text + n, 16, "%u,%u,1\n", src, dst);
    }
    fab_traffic traffic = read_text(text, &fabric);
    const fab_phase *phase = &traffic.phases[0];
    static uint32_t seen[64][64];
    cr_assert_eq(phase->n_flows, 20000);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        cr_assert_eq(flow.ordinal, seen[flow.src][flow.dst]++);
    }
    fab_traffic_release(&traffic);
    free(text);
}

/* An all-to-all is not listed, and is written as if it were. */
Test(matrix, text_of_an_all_to_all) {
    fab_fabric fabric = traffic_fabric(8, 1, 1);
    fab_traffic traffic = traffic_made("pattern:all-to-all,gpus=5-7,bytes=9B", NULL, &fabric, 1);
    char *csv = written(&traffic.phases[0], 8, FAB_MATRIX_CSV);
    char *market = written(&traffic.phases[0], 8, FAB_MATRIX_MARKET);
    cr_expect_str_eq(csv, "src,dst,bytes\n5,6,9\n5,7,9\n6,5,9\n6,7,9\n7,5,9\n7,6,9\n");
    cr_expect_str_eq(market, "%%MatrixMarket matrix coordinate integer general\n"
                             "% bytes from GPU (row) to GPU (column), numbered from 1\n"
                             "8 8 6\n6 7 9\n6 8 9\n7 6 9\n7 8 9\n8 6 9\n8 7 9\n");
    free(csv);
    free(market);
    fab_traffic_release(&traffic);
}

Test(matrix, round_trips) {
    fab_fabric fabric = traffic_fabric(96, 8, 8);
    fab_design *design = traffic_design();
    design->jobs[0].tp = 2;
    design->jobs[0].pp = 2;
    fab_traffic job = traffic_made("job", design, &fabric, 1);
    fab_traffic random = traffic_made("pattern:permutation", NULL, &fabric, 3);
    fab_traffic all = traffic_made("pattern:all-to-all,gpus=7-80", NULL, &fabric, 3);
    const fab_phase *phases[] = {&job.phases[0], &job.phases[1], &job.phases[2], &random.phases[0], &all.phases[0]};
    for (size_t i = 0; i < COUNT(phases); i++) {
        for (fab_matrix_format format = FAB_MATRIX_CSV; format <= FAB_MATRIX_MARKET; format++) {
            char *once = written(phases[i], 96, format);
            fab_traffic back = read_text(once, &fabric);
            cr_expect_eq(back.phases[0].total_bytes, phases[i]->total_bytes);
            char *twice = written(&back.phases[0], 96, format);
            cr_expect_str_eq(twice, once);
            free(once);
            free(twice);
            fab_traffic_release(&back);
        }
    }
    fab_traffic_release(&job);
    fab_traffic_release(&random);
    fab_traffic_release(&all);
    free(design);
}

Test(matrix, tolerated_forms) {
    static const char *const TEXTS[] = {
        "src,dst,bytes\n1,2,1000\n",
        "# a comment\r\n\r\n src , dst , bytes \r\n # another\r\n 1 ,\t2 , 1000 \r\n\r\n",
        "src,dst,bytes\n1,2,1e3",
        "src,dst,bytes\n1,2,999.5\n2,1,0\n2,1,0.2\n",
        "%%MatrixMarket matrix coordinate integer general\n4 4 1\n2 3 1000\n",
        "%%matrixmarket MATRIX Coordinate REAL General\r\n% a comment\r\n\r\n4 4 1\r\n  2\t3 1.0e+03 \r\n\r\n",
        "%%MatrixMarket matrix coordinate real general\n3 4 2\n2 3 999.6\n%\n1 2 .3",
        "0 0 0 0\n0 0 1e3 0\n0 0 0 0\n0 0 0 0",
        "# of a spreadsheet\r\n\r\n0;0;0;0\r\n0; 0;999.6 ;0;\r\n.2;0;0;0\r\n# none\r\n0;0;0;0\r\n\r\n",
    };
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        fab_traffic traffic = read_text(TEXTS[i], &fabric);
        const fab_phase *phase = &traffic.phases[0];
        cr_expect_eq(phase->n_flows, 1, "text %zu: %" PRIu64 " flows", i, phase->n_flows);
        cr_expect(phase->src[0] == 1 && phase->dst[0] == 2 && phase->bytes[0] == 1000, "text %zu", i);
        cr_expect_not(traffic.depends_on_seed);
        fab_traffic_release(&traffic);
    }
    fab_traffic empty = read_text("src,dst,bytes\n", &fabric);
    cr_expect_eq(empty.phases[0].n_flows, 0);
    fab_traffic_release(&empty);
}

/* A square against the same bytes as a coordinate matrix. */
Test(matrix, square_is_the_coordinate_matrix) {
    char square[8192];
    char market[8192];
    fab_fabric fabric = traffic_fabric(16, 1, 1);
    fab_rng rng = fab_rng_make(7, 0);
    for (size_t n = 1; n <= 16; n += n == 2 ? 2 : 1) { /* three are refused */
        size_t n_entries = 0;
        size_t at = 0;
        size_t used = 0;
        for (size_t i = 0; i < n * n; i++) {
            uint64_t bytes = i / n == i % n || fab_rng_below(&rng, 3) == 0 ? 0 : 1 + fab_rng_below(&rng, 1000000);
            at += (size_t)sprintf(square + at, "%" PRIu64 "%c", bytes, i % n == n - 1 ? '\n' : ',');
            used +=
                bytes == 0 ? 0 : (size_t)sprintf(market + used, "%zu %zu %" PRIu64 "\n", i / n + 1, i % n + 1, bytes);
            n_entries += bytes > 0;
        }
        char whole[9000];
        (void)snprintf(whole, sizeof whole, "%%%%MatrixMarket matrix coordinate integer general\n%zu %zu %zu\n%s", n, n,
                       n_entries, n_entries > 0 ? market : "");
        fab_traffic one = read_text(square, &fabric);
        fab_traffic other = read_text(whole, &fabric);
        const fab_phase *a = &one.phases[0];
        const fab_phase *b = &other.phases[0];
        cr_assert_eq(a->n_flows, b->n_flows);
        for (size_t i = 0; i < a->n_flows; i++) {
            cr_expect(a->src[i] == b->src[i] && a->dst[i] == b->dst[i] && a->bytes[i] == b->bytes[i], "entry %zu", i);
        }
        fab_traffic_release(&one);
        fab_traffic_release(&other);
    }
}

#define MM "%%MatrixMarket matrix coordinate integer general\n"

static const struct {
    const char *bytes;
    fab_status code;
    const char *place, *message;
} MALFORMED[] = {
    {"", FAB_EINPUT, "1:1",
     "expected the header src,dst,bytes (or source,destination,size; from,to,bytes), or a square of numbers, with "
     "names of "
     "its rows and columns or without, found the end of the file"},
    {"0,1,5\n", FAB_EINPUT, "1:1",
     "three numbers without a header: for flows write src,dst,bytes above them, for three GPUs a fourth row and column "
     "of zeros"},
    {"1,0,5\n", FAB_EINPUT, "1:1",
     "three numbers without a header: for flows write src,dst,bytes above them, for three GPUs a fourth row and column "
     "of zeros"},
    {"0,1.2.3\n1,0\n", FAB_EINPUT, "1:6", "expected ',', ';' or a blank behind the number, found '.3'"},
    {"0,1\n2,0\n3,4\n", FAB_EINPUT, "3:1", "expected the end of the file after as many rows as columns, found '3'"},
    {"0,1\n", FAB_EINPUT, "2:1", "expected as many rows as columns, found the end of the file"},
    {"0,1\n2\n", FAB_EINPUT, "2:2", "expected as many numbers as in the first row, found the end of the line"},
    {"0,1\n2,0,4\n", FAB_EINPUT, "2:5", "number 3 of a row, where the first has 2"},
    {"0 1 1 1 1\n", FAB_EINPUT, "1:9", "number 5 of a row, where GPUs of the fabric are 4"},
    {"0 1\n1 7\n", FAB_EINPUT, "2:3",
     "a GPU sends to itself, which no network carries: leave it out, or 0 on a diagonal"},
    {"0 1\nx 0\n", FAB_EINPUT, "2:1", "expected a number of bytes, found 'x'"},
    {"0,10 GB\n10 GB,0\n", FAB_EINPUT, "1:3",
     "'10 GB': bytes are a plain number, or one with its unit, without blanks or quotes: 10e9, 10GB"},
    {"0 2\n\"1e9\" 0\n", FAB_EINPUT, "2:1",
     "'\"1e9\" 0': bytes are a plain number, or one with its unit, without blanks or quotes: 10e9, 10GB"},
    {"src,dst,bytes\n0,1,1.5 MiB\n", FAB_EINPUT, "2:5",
     "'1.5 MiB': bytes are a plain number, or one with its unit, without blanks or quotes: 10e9, 10GB"},
    {"0,,1\n", FAB_EINPUT, "1:3", "expected a number of bytes, found ','"},
    {",", FAB_EINPUT, "1:2", "expected the name of a column, found the end of the file"},
    {"\"\"\n", FAB_EINPUT, "1:3", "expected the name of a column, found the end of the line"},
    {"src,dst\n", FAB_EINPUT, "1:8",
     "expected the header src,dst,bytes (or source,destination,size; from,to,bytes), or a square of numbers, with "
     "names of "
     "its rows and columns or without, found the end of the line"},
    {"src,dst,bytes,comm\n", FAB_EINPUT, "1:14", "expected the end of the line, found ','"},
    {"src,dst,bytes\n0,4,5\n", FAB_EINPUT, "2:3", "destination GPU 4 is outside 0 to 3"},
    {"src,dst,bytes\n\n-1,3,5\n", FAB_EINPUT, "3:1", "expected source GPU (a whole number), found '-1'"},
    {"src,dst,bytes\n0,1,5\n1,2,-5\n", FAB_EINPUT, "3:5", "expected a number of bytes of at least 0, found '-5'"},
    {"src,dst,bytes\n0,1\n", FAB_EINPUT, "2:4", "expected ',' or ';', found the end of the line"},
    {"src,dst,bytes\n0,1,", FAB_EINPUT, "2:5", "expected a number of bytes, found the end of the file"},
    {"src,dst,bytes\n0,1,many\n", FAB_EINPUT, "2:5", "expected a number of bytes, found 'many'"},
    {"src,dst,bytes\n0,1,5x\n", FAB_EINPUT, "2:6", "expected the end of the line, found 'x'"},
    {"src,dst,bytes\n0,1,5 6\n", FAB_EINPUT, "2:7", "expected the end of the line, found '6'"},
    {"src,dst,bytes\n0,1,0x10\n", FAB_EINPUT, "2:6", "expected the end of the line, found 'x10'"},
    {"src,dst,bytes\n0,1,nan\n", FAB_EINPUT, "2:5", "expected a number of bytes, found 'nan'"},
    {"src,dst,bytes\n0,1,1e300\n", FAB_EINPUT, "2:5", "bytes above the limit of 9.2e18"},
    {"src,dst,bytes\n0,1,99999999999999999999\n", FAB_EINPUT, "2:5",
     "bytes 99999999999999999999 is outside 0 to 9223372036854775807"},
    {"src,dst,bytes\n0,1,9223372036854775807\n1,0,1\n", FAB_EINPUT, "3:1",
     "the bytes of all entries add up to more than 2^63"},
    {"src,dst,bytes\n  2,2,5\n", FAB_EINPUT, "2:3",
     "a GPU sends to itself, which no network carries: leave it out, or 0 on a diagonal"},
    {"src,dst,bytes\n0:1:5\n", FAB_EINPUT, "2:2", "expected ',' or ';', found ':1:5'"},
    {"src,dst,bytes\n\x80\n", FAB_EINPUT, "2:1",
     "expected source GPU (a whole number), found byte 0x80: not a text file"},
    {"\x7f"
     "ELF",
     FAB_EINPUT, "1:1",
     "expected the header src,dst,bytes (or source,destination,size; from,to,bytes), or a square of numbers, with "
     "names of "
     "its rows and columns or without, found byte 0x7f: not a text file"},
    {"%%MatrixMarket matrix\n", FAB_EINPUT, "1:22", "expected 'coordinate', found the end of the line"},
    {"%%MatrixMarket matrix array real general\n", FAB_EUNSUPPORTED, "1:23",
     "'array' matrices are not supported; write 'coordinate'"},
    {"%%MatrixMarket matrix coordinate pattern general\n", FAB_EUNSUPPORTED, "1:34",
     "'pattern' matrices are not supported; write 'integer'"},
    {"%%MatrixMarket matrix coordinate real symmetric\n", FAB_EUNSUPPORTED, "1:39",
     "'symmetric' matrices are not supported; write 'general'"},
    {"%%MatrixMarket graph\n", FAB_EINPUT, "1:16", "expected 'matrix', found 'graph'"},
    {MM, FAB_EINPUT, "2:1", "expected rows (GPUs) (a whole number), found the end of the file"},
    {MM "5 4 1\n", FAB_EINPUT, "2:1", "rows (GPUs) 5 is outside 1 to 4"},
    {MM "4 4\n", FAB_EINPUT, "2:4", "expected entries (a whole number), found the end of the line"},
    {MM "4 4 2\n1 2 5\n", FAB_EINPUT, "4:1", "expected entry 2 of 2, found the end of the file"},
    {MM "4 4 1\n1 2 5\n2 1 5\n", FAB_EINPUT, "4:1", "expected the end of the file after 1 entries, found '2'"},
    {MM "4 4 1\n0 2 5\n", FAB_EINPUT, "3:1", "row 0 is outside 1 to 4"},
    {MM "4 3 1\n1 4 5\n", FAB_EINPUT, "3:3", "column 4 is outside 1 to 3"},
    {MM "4 4 1\n1 1 5\n", FAB_EINPUT, "3:1",
     "a GPU sends to itself, which no network carries: leave it out, or 0 on a diagonal"},
    {MM "4 4 1\n1 2\n", FAB_EINPUT, "3:4", "expected a number of bytes, found the end of the line"},
    {MM "4 4 4294967295\n1 2 3\n", FAB_EINPUT, "4:1", "expected entry 2 of 4294967295, found the end of the file"},
};

Test(matrix, malformed_files_name_line_and_column) {
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    for (size_t i = 0; i < COUNT(MALFORMED); i++) {
        temporary t = file_with(MALFORMED[i].bytes, strlen(MALFORMED[i].bytes));
        char where[128];
        (void)snprintf(where, sizeof where, "%s:%s", t.path, MALFORMED[i].place);
        traffic_refused(t.text, NULL, &fabric, MALFORMED[i].code, where, MALFORMED[i].message);
        (void)unlink(t.path);
    }
}

Test(matrix, nul_bytes_are_not_text) {
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    static const char BYTES[] = "src,dst,bytes\n0,1,\0 5\n";
    temporary t = file_with(BYTES, sizeof BYTES - 1);
    char where[128];
    (void)snprintf(where, sizeof where, "%s:2:5", t.path);
    traffic_refused(t.text, NULL, &fabric, FAB_EINPUT, where,
                    "expected a number of bytes, found byte 0x00: not a text file");
    (void)unlink(t.path);
}

Test(matrix, other_refusals) {
    fab_fabric fabric = traffic_fabric(4, 1, 1);
    traffic_refused("file:", NULL, &fabric, FAB_EINPUT, "", "traffic 'file:' names no file; write file:PATH");
    traffic_refused("file:/nonexistent/m.csv", NULL, &fabric, FAB_EIO, "/nonexistent/m.csv",
                    "cannot be read: No such file or directory");
    fab_traffic traffic = traffic_made("pattern:ring", NULL, &fabric, 1);
    fab_error err = {.code = FAB_OK};
    FILE *full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    cr_expect_eq(fab_matrix_write(&traffic.phases[0], 4, FAB_MATRIX_CSV, full, &err), FAB_EIO);
    cr_expect_str_eq(err.text, "cannot write the traffic matrix: No space left on device");
    (void)fclose(full);
    fab_traffic_release(&traffic);
    fabric = traffic_fabric(1 << 20, 8, 8); /* 1.1e12 lines: the full disk must be noticed early */
    traffic = traffic_made("pattern:all-to-all,bytes=1B", NULL, &fabric, 1);
    full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    err.code = FAB_OK;
    cr_expect_eq(fab_matrix_write(&traffic.phases[0], 1 << 20, FAB_MATRIX_MARKET, full, &err), FAB_EIO);
    cr_expect_str_eq(err.text, "cannot write the traffic matrix: No space left on device");
    (void)fclose(full);
    fab_traffic_release(&traffic);
}
