/** `top` without its terminal: keys in, lines out. top_screen.c puts them on one. */
#pragma once

#include "top_view.h"

#define TOP_DEPTH 3
#define TOP_INPUT 160

/** Keys beside those that are letters. */
enum {
    TOP_KEY_ENTER = '\n',
    TOP_KEY_ESCAPE = 27,
    TOP_KEY_ERASE = 127,
    TOP_KEY_UP = 256,
    TOP_KEY_DOWN,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END
};

typedef struct top_app {
    top_model model;
    top_view drill[TOP_DEPTH]; /**< phases, links of one, flows on one of them */
    top_view parts, broken;
    top_view_kind list; /**< TOP_PHASES: the drill; TOP_PARTS; TOP_BROKEN */
    size_t depth;       /**< of the drill */
    size_t rows;        /**< of the list that the last drawing had room for */
    char message[FAB_ENGINE_TEXT_SIZE + 320];
    bool is_bad; /**< the message tells of an error */
    int asks;    /**< the key that asks for a text: 'b', 's', '/'; 0: none */
    char input[TOP_INPUT];
    char search[TOP_INPUT];
    bool help, done;
} top_app;

/** The list that is seen. */
static inline top_view *top_app_shown(top_app *app) {
    return app->list == TOP_PARTS ? &app->parts : app->list == TOP_BROKEN ? &app->broken : &app->drill[app->depth];
}

/** Opens the model. @param[in,out] out  Zero-initialised, with model.tell. Release with top_app_release(). */
FAB_STATUS top_app_open(const cli_options *options, top_app *out, fab_error *err);
void top_app_release(top_app *app);

/** Does what a key asks for. What goes wrong is told in the message; an error is memory alone. */
FAB_STATUS top_app_key(top_app *app, int key, fab_error *err);

/** Whether a key asks for an answer that may take a while. */
bool top_app_is_slow(const top_app *app, int key);

/**
 * At most `height` lines, one of the page each.
 * @param[in] page  As wide as the terminal.
 * @return the line that is selected; SIZE_MAX: none.
 */
size_t top_app_draw(top_app *app, size_t height, fab_page *page);

/* --- top_screen.c: on the terminal of the process ----------------------------------------------------------------- */

/**
 * Until the reader quits; then prints the command line of the state.
 * @retval FAB_EUSAGE  the terminal cannot show it
 * @retval FAB_EUNSUPPORTED  built without ncurses
 */
FAB_STATUS top_screen_run(const cli_options *options, FILE *out, fab_error *err);
