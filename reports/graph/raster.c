/* The drawing as pixels for slides, and as a page for print: SVG by svg.c, turned by librsvg's own program, which is
 * started only then. Linking the library would double the time in which every command starts: ADR 100. */
#include "fab/save.h"
#include "report_formats.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONVERTER "rsvg-convert"
#define WIDTH     "1920" /* of a slide, which the drawing has the shape of */
#define HEIGHT    "1080"

#ifdef FAB_HAS_SPAWN
extern char **environ;

/* Runs the converter from one file without a name into another. A page for print carries the hour at which it was made
 * unless this variable says another: the same design gives the same bytes, today and tomorrow. */
static fab_status convert(const char *format, FILE *from, FILE *to, fab_error *err) {
    char kind[8];
    char *const words[] = {(char *)CONVERTER,
                           (char *)"--format",
                           kind,
                           (char *)"--width",
                           (char *)WIDTH,
                           (char *)"--height",
                           (char *)HEIGHT,
                           (char *)"--keep-aspect-ratio",
                           NULL};
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    int state = 0;
    FAB_FORMAT(kind, "%s", format);
    FAB_REFUSE_IF(posix_spawn_file_actions_init(&files) != 0, err, FAB_ENOMEM, NULL, "out of memory");
    int failed = posix_spawn_file_actions_adddup2(&files, fileno(from), 0);
    failed = failed != 0 ? failed : posix_spawn_file_actions_adddup2(&files, fileno(to), 1);
    failed = failed != 0 || setenv("SOURCE_DATE_EPOCH", "0", 0) == 0 ? failed : ENOMEM;
    failed = failed != 0 ? failed : posix_spawnp(&child, CONVERTER, &files, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    FAB_REFUSE_IF(failed != 0, err, failed == ENOENT ? FAB_EUNSUPPORTED : FAB_EIO, NULL,
                  "format %s: cannot start %s%s: %s", format, CONVERTER,
                  failed == ENOENT ? " (Debian: librsvg2-bin); format svg needs nothing" : "", strerror(failed));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    FAB_REFUSE_IF(!WIFEXITED(state) || WEXITSTATUS(state) != 0, err, FAB_EIO, NULL,
                  "format %s: %s could not draw the picture", format, CONVERTER);
    return FAB_OK;
}
#else
static fab_status convert(const char *format, FAB_UNUSED FILE *from, FAB_UNUSED FILE *to, fab_error *err) {
    return fab_fail(err, FAB_EUNSUPPORTED, NULL, "format %s: no program can be started here; format svg needs none",
                    format);
}
#endif

static fab_status copy(FILE *from, FILE *to, fab_error *err) {
    char block[16384];
    rewind(from);
    for (size_t n = fread(block, 1, sizeof block, from); n > 0; n = fread(block, 1, sizeof block, from)) {
        (void)fwrite(block, 1, n, to); /* whoever prints the report looks at the stream */
    }
    return ferror(from) ? fab_fail(err, FAB_EIO, NULL, "cannot read the picture back") : FAB_OK;
}

static fab_status print_raster(const char *format, const fab_result *result, const fab_report_style *style, FILE *out,
                               fab_error *err) {
    FAB_OWNS(fab_file_close) FILE *drawing = tmpfile();
    FAB_OWNS(fab_file_close) FILE *picture = tmpfile();
    FAB_REFUSE_IF(drawing == NULL || picture == NULL, err, FAB_EIO, NULL, "format %s: cannot make a temporary file: %s",
                  format, strerror(errno));
    FAB_PASS(fab_report_svg.print(result, style, drawing, err));
    FAB_REFUSE_IF(fflush(drawing) != 0 || lseek(fileno(drawing), 0, SEEK_SET) != 0, err, FAB_EIO, NULL,
                  "format %s: cannot keep the drawing: %s", format, strerror(errno));
    FAB_PASS(convert(format, drawing, picture, err));
    return copy(picture, out, err);
}

/* A format of the converter: the callback has no context of its own. */
#define RASTER_FORMAT(id, format_summary)                                                                              \
    static fab_status print_##id(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) { \
        return print_raster(#id, result, style, out, err);                                                             \
    }                                                                                                                  \
    const fab_report_format fab_report_##id = {.name = #id,                                                            \
                                               .suffix = "." #id,                                                      \
                                               .summary = (format_summary),                                            \
                                               .print = print_##id,                                                    \
                                               .is_for_files = true,                                                   \
                                               .needs_graph = true,                                                    \
                                               .shows_audit = true,                                                    \
                                               .shows_graph = true,                                                    \
                                               .shows_loads = true};

RASTER_FORMAT(png, "the drawing in 1920 by 1080 pixels, for a slide")
RASTER_FORMAT(pdf, "the drawing as a page for print")
