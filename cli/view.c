/* stiction view: serves the viewer page for a recording or for a running scene. */
#include "interrupt.h"
#include "live.h"
#include "load.h"
#include "outputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POSES 8000000 /* four times as many as in a report, because the page is local */

typedef struct ViewOptions {
    TextList sets;
    long threads;
    char threads_set[48];
    bool live, quiet;
    long port;
} ViewOptions;

static const Option options[] = {
    {"live", 0, OPTION_FLAG, NULL, "treat the file as a scene, whatever its extension", offsetof(ViewOptions, live)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of the scene", offsetof(ViewOptions, sets)},
    {"threads", 0, OPTION_COUNT, "N", THREADS_HELP, offsetof(ViewOptions, threads)},
    {"port", 0, OPTION_COUNT, "N", "port of 127.0.0.1 (default: any free port)", offsetof(ViewOptions, port)},
    {"no-browser", 0, OPTION_FLAG, NULL, "only print the address", offsetof(ViewOptions, quiet)},
};

static int view_main(int argc, char *const *argv);

const Command view_command = {
    .name = "view",
    .reads_files = true,
    .words = "FILE.h5|SCENE",
    .min_words = 1,
    .max_words = 1,
    .summary = "show a recording, or a running scene, in the browser",
    .details =
        "A scene (.json, .urdf, .xml, or the name of an example) runs while you watch: pause it, change h, gravity and "
        "friction, drag bodies. The program serves the page at a local address. Other machines cannot reach it, and "
        "other "
        "users need the key in the address. Ctrl-C ends the program. Over ssh, forward the port: ssh -L "
        "PORT:127.0.0.1:PORT.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = view_main,
};

typedef struct View {
    unsigned char *run; /* packed */
    size_t size;
    Live *live;
} View;

static void answer(Server *server, Client *client, const Request *request)
{
    View *view = server->ctx;
    const char *path = request->path;
    if (!request->post && strcmp(path, "/") == 0) {
        answer_page(server, client);
    } else if (!request->post && strcmp(path, "/run") == 0 && view->live != NULL) {
        char *choices = live_choices(view->live);
        const char *scene = live_scene(view->live);
        if (choices == NULL || scene == NULL)
            answer_text(client, "500 Out of Memory", "out of memory\n");
        else
            answer_in_parts(client, "application/json", choices, scene);
        free(choices);
    } else if (!request->post && strcmp(path, "/run") == 0) {
        answer_with(client, "200 OK", "application/octet-stream", view->run, view->size);
    } else if (!request->post && strcmp(path, "/events") == 0 && view->live != NULL) {
        start_stream(server, client);
        live_control(view->live, "", 0); /* send the state to the new viewer */
    } else if (request->post && strcmp(path, "/control") == 0 && view->live != NULL) {
        live_control(view->live, request->body, request->length);
        answer_text(client, "200 OK", "");
    } else {
        answer_text(client, "404 Not Found", "there is only the page and its run\n");
    }
}

static bool pack(View *view, const char *path, st_Error *err)
{
    st_Recording *recording = NULL;
    bool ok = st_recording_open(path, &recording, err) == ST_OK &&
              st_recording_pack(recording, POSES, &view->run, &view->size, err) == ST_OK;
    st_recording_close(recording);
    return ok;
}

static int serve(Server *server, View *view, const ViewOptions *o)
{
    char address[64 + SERVE_KEY_SIZE];
    interrupt_begin();
    snprintf(address, sizeof address, "http://127.0.0.1:%d/?key=%s", server->port, server->key);
    printf("%s   (Ctrl-C ends it)\n", address);
    fflush(stdout);
    if (!o->quiet) open_browser(address);
    while (interrupt_caught() == 0) {
        bool busy = view->live != NULL && stream_count(server) > 0;
        server_poll(server, busy ? 4 : 500);
        if (busy) live_advance(view->live, server);
    }
    return STATUS_OK;
}

static int view_main(int argc, char *const *argv)
{
    ViewOptions o = {0};
    const char *words[MAX_WORDS];
    st_Error err = {0};
    View view = {0};
    Loaded loaded = {0};
    Server *server = calloc(1, sizeof *server);
    int status = command_read(&view_command, argc, argv, &o, words);
    if (status < 0) o.live = o.live || means_scene(words[0]);
    if (status < 0 && server == NULL) status = complain(STATUS_FAILED, "out of memory");
    if (status < 0 && o.port > 65535)
        status = complain(STATUS_INPUT, "view: --port is %ld, must be at most 65535", o.port);
    if (status < 0 && !o.live && o.threads > 0)
        status = complain(STATUS_INPUT, "view: --threads is for a scene, not for a recording");
    if (status < 0) status = set_threads(&o.sets, o.threads, o.threads_set);
    if (status < 0 && !o.live && o.sets.count > 0)
        status = complain(STATUS_INPUT, "view: --set is for a scene, not for a recording");
    if (status < 0 && !has_ending(words[0], ".h5") && !has_ending(words[0], ".hdf5") && access(words[0], F_OK) != 0)
        o.live = true; /* most likely an example that is spelled wrongly: `load` names the nearest one */
    if (status < 0 && o.live && !load(words[0], &o.sets, &loaded, &err)) status = refuse_scene(&loaded, &err);
    if (status < 0 && !o.live && !pack(&view, words[0], &err)) status = complain(STATUS_INPUT, "%s", err.message);
    if (status < 0 && server != NULL) {
        server->ctx = &view;
        server->answer = answer;
        server->most_body = 4096;
        status = server_open(server, o.port) ? -1 : STATUS_FAILED;
        if (status < 0 && o.live) view.live = live_create(&loaded, server->key, &err);
        if (status < 0 && o.live && view.live == NULL) status = complain(STATUS_INPUT, "%s", err.message);
        if (status < 0) status = serve(server, &view, &o);
        server_close(server);
    }
    live_destroy(view.live);
    unload(&loaded);
    free(view.run);
    free(server);
    free((void *)o.sets.item);
    return status;
}
