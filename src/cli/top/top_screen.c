/* The terminal of `top`: the only file that knows ncurses. Lines come with the colours of reports; what is worse and
 * better is never told by colour alone, and without colours by bold. */

#include "top_app.h"

#ifdef FAB_TERMINAL

#include <curses.h>
#include <term.h>
#include <locale.h>

#define WAIT_MS 200 /* how long a signal may wait */

typedef struct top_screen {
    SCREEN *screen;
    bool color;
    bool ascii;
    top_app app;
} top_screen;

/* Red and blue: told apart by those who do not see red from green. */
enum { PAIR_BAD = 1, PAIR_GOOD };

static attr_t attribute_of(const top_screen *s, const char *sgr) {
    switch (strtol(sgr, NULL, 10)) {
    case 1: return A_BOLD;
    case 2: return s->color ? A_DIM : A_NORMAL;
    case 31: return A_BOLD | (s->color ? (attr_t)COLOR_PAIR(PAIR_BAD) : 0);
    case 32: return A_BOLD | (s->color ? (attr_t)COLOR_PAIR(PAIR_GOOD) : 0);
    default: return A_NORMAL;
    }
}

/* One line of a page. Gives the text behind it. */
static const char *put_line(const top_screen *s, int y, const char *text, bool is_selected) {
    attr_t ink = A_NORMAL;
    (void)move(y, 0);
    (void)clrtoeol();
    while (*text != '\0' && *text != '\n') {
        if (*text == '\033') {
            ink = attribute_of(s, text + 2);
            text += strcspn(text, "m") + 1;
            continue;
        }
        const int n = (int)strcspn(text, "\033\n");
        (void)attrset((int)(is_selected ? A_REVERSE | (ink & A_BOLD) : ink));
        (void)addnstr(text, n);
        text += n;
    }
    (void)attrset((int)(is_selected ? A_REVERSE : A_NORMAL));
    for (int x = getcurx(stdscr); is_selected && getcury(stdscr) == y && x < COLS - 1; x++) {
        (void)addch(' ');
    }
    (void)attrset(A_NORMAL);
    return *text == '\n' ? text + 1 : text;
}

static fab_status draw(top_screen *s, fab_error *err) {
    const size_t width = COLS > 0 ? (size_t)COLS : 0;
    size_t selected = SIZE_MAX;
    const fab_report_style style = {
        .color = true, .ascii = s->ascii, .width = (int)(width < FAB_TEXT_MAX_WIDTH ? width : FAB_TEXT_MAX_WIDTH)};
    FAB_OWNED_NEW(fab_page, page, 1, err);
    fab_page_init(page, &style);
    if (width < FAB_TEXT_MIN_WIDTH) {
        fab_str_add(&page->out, "too narrow\n");
    } else {
        selected = top_app_draw(&s->app, LINES > 0 ? (size_t)LINES : 0, page);
    }
    FAB_OWNS(fab_str_release) fab_str out = fab_page_take(page);
    const fab_status status = fab_str_status(&out, err);
    const char *text = out.data != NULL && status == FAB_OK ? out.data : "";
    for (int y = 0; y < LINES; y++) {
        text = put_line(s, y, text, (size_t)y == selected);
    }
    (void)refresh();
    return status;
}

/* What is under way, on the last line. */
static void tell(void *context, const char *what) {
    top_screen *s = context;
    if (s->screen != NULL) {
        (void)put_line(s, LINES - 1, what, false);
        (void)refresh();
    }
}

static int key_of(int key) {
    switch (key) {
    case KEY_UP: return TOP_KEY_UP;
    case KEY_DOWN: return TOP_KEY_DOWN;
    case KEY_LEFT: return TOP_KEY_LEFT;
    case KEY_RIGHT: return TOP_KEY_RIGHT;
    case KEY_PPAGE: return TOP_KEY_PAGE_UP;
    case KEY_NPAGE: return TOP_KEY_PAGE_DOWN;
    case KEY_HOME: return TOP_KEY_HOME;
    case KEY_END: return TOP_KEY_END;
    case KEY_BACKSPACE:
    case '\b': return TOP_KEY_ERASE;
    case KEY_ENTER:
    case '\r': return TOP_KEY_ENTER;
    default: return key > 0 && key < 128 ? key : 0;
    }
}

static fab_status loop(top_screen *s, fab_error *err) {
    bool is_new = true;
    while (!s->app.done && cli_interrupted() == 0) {
        FAB_PASS(is_new ? draw(s, err) : FAB_OK);
        const int key = getch();
        is_new = key != ERR;
        if (key == ERR || key == KEY_RESIZE) {
            continue;
        }
        if (top_app_is_slow(&s->app, key_of(key))) {
            tell(s, "Counting ...");
        }
        FAB_PASS(top_app_key(&s->app, key_of(key), err));
    }
    return FAB_OK;
}

static fab_status open_screen(top_screen *s, const cli_options *options, fab_error *err) {
    const fab_report_style style = cli_style(options);
    (void)setlocale(LC_CTYPE, "");
    s->ascii = style.ascii;
    cli_keep_modes(true);
    s->screen = newterm(NULL, stdout, stdin);
    CLI_REFUSE_IF(
        s->screen == NULL || cursor_address == NULL, err,
        "command top: the terminal (TERM) cannot move its cursor; 'run DESIGN --fail COMPONENT' tells the same");
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, TRUE);
    (void)set_escdelay(50);
    (void)curs_set(0);
    timeout(WAIT_MS);
    s->color = style.color && has_colors();
    if (s->color) {
        (void)start_color();
        (void)use_default_colors();
        (void)init_pair(PAIR_BAD, COLOR_RED, -1);
        (void)init_pair(PAIR_GOOD, COLOR_BLUE, -1);
    }
    return FAB_OK;
}

fab_status top_screen_run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str command = FAB_STR_INIT;
    top_screen *s = NULL;
    FAB_TRY(FAB_NEW(s, 1, err));
    s->app.model.tell = tell;
    s->app.model.tell_context = s;
    cli_catch_interrupts();
    FAB_TRY(open_screen(s, options, err));
    FAB_TRY(top_app_open(options, &s->app, err));
    FAB_TRY(loop(s, err));
    top_model_command(&s->app.model, &command);
    FAB_TRY(fab_str_status(&command, err));
    (void)fprintf(out, "%s\n", command.data);
done:
    if (s != NULL && s->screen != NULL) {
        (void)endwin();
        delscreen(s->screen);
        cli_keep_modes(false);
    }
    if (s != NULL) {
        top_app_release(&s->app);
    }
    free(s);
    fab_str_release(&command);
    if (cli_interrupted() != 0) {
        cli_end_interrupted();
    }
    return status;
}

#else

fab_status top_screen_run(FAB_UNUSED const cli_options *options, FAB_UNUSED FILE *out, fab_error *err) {
    return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                    "command top: this build has no ncurses; 'run DESIGN --fail COMPONENT' tells the same");
}

#endif
