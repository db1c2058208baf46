/* stiction render: pictures and films of a recording, drawn by the page in a browser without a window.
 *
 * The program serves the page on 127.0.0.1, opens it in Chromium, and stores each frame that the page posts; ffmpeg
 * makes a film from them.
 */
#define _XOPEN_SOURCE 700
#include "load.h"
#include "outputs.h"
#include "progress.h"
#include "serve.h"
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POSES    8000000
#define PATIENCE 120.0 /* longest time without a frame [s] */

typedef struct RenderOptions {
    const char *output, *size, *theme, *look;
    double at, from, to, fps, speed;
} RenderOptions;

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "FILE",
     "FILE.png or FILE.jpg: one picture; FILE.mp4 or FILE.gif: a film;\nFOLDER/: frames as PNG",
     offsetof(RenderOptions, output)},
    {"at", 0, OPTION_NUMBER, "T", "the time of the picture [s] (default: the middle)", offsetof(RenderOptions, at)},
    {"from", 0, OPTION_NUMBER, "T", "start of the film [s]", offsetof(RenderOptions, from)},
    {"to", 0, OPTION_NUMBER, "T", "end of the film [s]", offsetof(RenderOptions, to)},
    {"fps", 0, OPTION_NUMBER, "N", "frames per second of the film (default 30)", offsetof(RenderOptions, fps)},
    {"speed", 0, OPTION_NUMBER, "X", "simulated seconds per second of the film (default 1)",
     offsetof(RenderOptions, speed)},
    {"size", 0, OPTION_TEXT, "WxH", "size in pixels (default 1280x720)", offsetof(RenderOptions, size)},
    {"look", 0, OPTION_TEXT, "X,Y,Z", "direction from the scene to the camera (default: from the motion)",
     offsetof(RenderOptions, look)},
    {"theme", 0, OPTION_TEXT, "NAME", "light or dark (default dark)", offsetof(RenderOptions, theme)},
};

static int render_main(int argc, char *const *argv);

const Command render_command = {
    .name = "render",
    .words = "FILE.h5",
    .min_words = 1,
    .max_words = 1,
    .summary = "make a picture or a film of a recording",
    .details =
        "Needs Chromium (Debian: chromium), and ffmpeg for films. No screen and no graphics card are necessary, but "
        "without them it is slower. The environment variable STICTION_BROWSER selects another browser based on "
        "Chromium.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = render_main,
};

typedef struct Render {
    const RenderOptions *options;
    int width, height;
    bool single, film, jpeg;
    double eye[3];             /* --look */
    char folder[SCRATCH_SIZE]; /* scratch: profile, frames of a film */
    const char *frames;
    unsigned char *run;
    size_t size;
    double first, last, heard;
    int kept, expected;
    bool done, failed;
} Render;

static void keep_frame(Render *render, const Request *request)
{
    double n = 0, of = 0;
    char path[4200];
    form_number(request->query, strlen(request->query), "n", &n);
    form_number(request->query, strlen(request->query), "of", &of);
    if (n < 0 || n > 1e6) return;
    if (render->single)
        snprintf(path, sizeof path, "%s", render->options->output);
    else
        snprintf(path, sizeof path, "%s/frame_%05d.png", render->frames, (int)n);
    st_Error err = {0};
    if (st_file_write(path, request->body, request->length, &err) != ST_OK) {
        complain(STATUS_FAILED, "%s", err.message);
        render->failed = true;
    }
    render->kept++;
    render->expected = (int)of;
    render->heard = wall_seconds();
}

static void answer(Server *server, Client *client, const Request *request)
{
    Render *render = server->ctx;
    if (!request->post && strcmp(request->path, "/") == 0) {
        answer_page(server, client);
    } else if (!request->post && strcmp(request->path, "/run") == 0) {
        answer_with(client, "200 OK", "application/octet-stream", render->run, render->size);
    } else if (request->post && strcmp(request->path, "/frame") == 0) {
        keep_frame(render, request);
        answer_text(client, render->failed ? "500 Failed" : "200 OK", "");
    } else if (request->post && strcmp(request->path, "/done") == 0) {
        render->done = true;
        answer_text(client, "200 OK", "");
    } else {
        answer_text(client, "404 Not Found", "");
    }
}

static pid_t start_browser(const Render *render, const Server *server, const char *browser)
{
    const RenderOptions *o = render->options;
    double middle = render->first + 0.5 * (render->last - render->first);
    double from = render->single ? (o->at > 0 ? o->at : middle) : o->from > 0 ? o->from : render->first;
    double to = render->single ? from : o->to > 0 ? fmin(o->to, render->last) : render->last;
    char address[640], profile[96], window[64], look[96] = "";
    const char *argv[24] = {browser};
    if (o->look != NULL)
        snprintf(look, sizeof look, "&look=%.17g,%.17g,%.17g", render->eye[0], render->eye[1], render->eye[2]);
    int n = 1 + browser_options(argv + 1, profile);
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", render->folder);
    snprintf(window, sizeof window, "--window-size=%d,%d", render->width, render->height);
    snprintf(
        address, sizeof address,
        "http://127.0.0.1:%d/?render&key=%s&from=%.17g&to=%.17g&fps=%.17g&speed=%.17g&width=%d&height=%d&theme=%s%s%s",
        server->port, server->key, from, to, o->fps > 0 ? o->fps : 30, o->speed > 0 ? o->speed : 1, render->width,
        render->height, o->theme != NULL ? o->theme : "dark", render->jpeg ? "&kind=jpg" : "", look);
    argv[n++] = window;
    argv[n++] = "--remote-debugging-port=0"; /* keeps the headless browser running */
    argv[n++] = address;
    return start_tool(argv);
}

/* Serves until the page has sent its frames. */
static int collect(Render *render, Server *server, const char *browser)
{
    pid_t child = start_browser(render, server, browser);
    bool shown = isatty(STDERR_FILENO), gone = false;
    if (child < 0) return complain(STATUS_FAILED, "%s could not be started", browser);
    render->heard = wall_seconds();
    while (!render->done && !render->failed && !gone && ending_signal() == 0 &&
           wall_seconds() - render->heard < PATIENCE) {
        server_poll(server, 200);
        gone = waitpid(child, NULL, WNOHANG) == child;
        if (shown && render->kept > 0) fprintf(stderr, "\rframe %d of %d ", render->kept, render->expected);
    }
    if (shown) fprintf(stderr, "\r                        \r");
    server_poll(server, 50);
    if (!gone) {
        kill(-child, SIGKILL); /* the whole process group of start_tool */
        waitpid(child, NULL, 0);
    }
    if (render->failed) return STATUS_FAILED;
    if (render->done || ending_signal() != 0) return STATUS_OK;
    return complain(STATUS_FAILED,
                    gone ? "%s ended before the pictures were made (%d are)"
                         : "%s sent no picture for two minutes (%d are made)",
                    browser, render->kept);
}

static int make_film(const Render *render)
{
    char pattern[128], film[96], rate[32];
    const bool gif = has_ending(render->options->output, ".gif");
    snprintf(film, sizeof film, "%s/film.%s", render->folder, gif ? "gif" : "mp4");
    snprintf(pattern, sizeof pattern, "%s/frame_%%05d.png", render->frames);
    snprintf(rate, sizeof rate, "%.6g", render->options->fps > 0 ? render->options->fps : 30);
    const char *const as_mp4[] = {"ffmpeg", "-y", "-framerate", rate,      "-i",        pattern,      "-c:v", "libx264",
                                  "-crf",   "18", "-pix_fmt",   "yuv420p", "-movflags", "+faststart", film,   NULL};
    const char *const as_gif[] = {"ffmpeg", "-y",    "-framerate",      rate,
                                  "-i",     pattern, "-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse",
                                  film,     NULL}; /* with its own palette of 256 colours */
    if (!run_tool(gif ? as_gif : as_mp4))
        return ending_signal() != 0 ? STATUS_FAILED
                                    : complain(STATUS_FAILED, "ffmpeg could not make %s", render->options->output);
    return copy_output(film, render->options->output) ? STATUS_OK : STATUS_FAILED;
}

/* Checks the kind of output and its size. -1: continue. */
static int check(Render *render)
{
    const RenderOptions *o = render->options;
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".mp4", ".gif", NULL};
    char rest = 0;
    if (o->output == NULL) return complain(STATUS_INPUT, "render: -o FILE.png, FILE.mp4 or FOLDER/ is missing");
    render->jpeg = has_ending(o->output, ".jpg") || has_ending(o->output, ".jpeg");
    render->single = render->jpeg || has_ending(o->output, ".png");
    render->film = has_ending(o->output, ".mp4") || has_ending(o->output, ".gif");
    const char *slash = strrchr(o->output, '/'), *name = slash != NULL ? slash + 1 : o->output;
    if (!render->single && !render->film && strchr(name, '.') != NULL &&
        !output_named(o->output, endings, "; a folder for frames ends in /"))
        return STATUS_INPUT;
    render->width = 1280;
    render->height = 720;
    if (o->size != NULL && (sscanf(o->size, "%dx%d%c", &render->width, &render->height, &rest) != 2 ||
                            render->width < 16 || render->height < 16 || render->width > 8192 || render->height > 8192))
        return complain(STATUS_INPUT, "render: --size is \"%s\", must be like 1280x720, 16 to 8192", o->size);
    if (o->look != NULL &&
        (sscanf(o->look, "%lf,%lf,%lf%c", &render->eye[0], &render->eye[1], &render->eye[2], &rest) != 3 ||
         !(fabs(render->eye[0]) + fabs(render->eye[1]) + fabs(render->eye[2]) > 0) ||
         !isfinite(render->eye[0] + render->eye[1] + render->eye[2])))
        return complain(STATUS_INPUT, "render: --look is \"%s\", must be a direction like 1,-1,0.5", o->look);
    if (o->theme != NULL && strcmp(o->theme, "light") != 0 && strcmp(o->theme, "dark") != 0)
        return complain(STATUS_INPUT, "render: --theme is \"%s\", must be light or dark", o->theme);
    if (render->film && (render->width % 2 != 0 || render->height % 2 != 0))
        return complain(STATUS_INPUT, "render: a film's --size must be even, found %dx%d", render->width,
                        render->height);
    if (render->single && (o->from > 0 || o->to > 0 || o->fps > 0 || o->speed > 0))
        return complain(STATUS_INPUT, "render: --from, --to, --fps and --speed are for films, but %s is one picture",
                        o->output);
    if (!render->single && o->at > 0)
        return complain(STATUS_INPUT, "render: --at is for one picture, but %s is a film or a folder of frames",
                        o->output);
    if ((render->single || render->film) && !output_possible(o->output)) return STATUS_INPUT;
    return -1;
}

/* A requested time must be in the recording. */
static bool within(const Render *render, const char *option, double t)
{
    if (t <= render->last + 1e-9 * fabs(render->last)) return true;
    complain(STATUS_INPUT, "render: %s is %g s, and the recording ends at %g s", option, t, render->last);
    return false;
}

/* Reads the recording, and finds the tools. */
static int prepare(Render *render, const char *path, const char **browser)
{
    static const char *const film_tool[] = {"ffmpeg", NULL};
    st_Recording *recording = NULL;
    st_Error err = {0};
    if (same_file(render->options->output, path))
        return complain(STATUS_INPUT, "render: the output %s is the recording itself", path);
    bool ok = open_recording(path, &recording, &err) &&
              st_recording_pack(recording, POSES, &render->run, &render->size, &err) == ST_OK;
    if (ok) {
        render->first = st_recording_info(recording)->first;
        render->last = st_recording_info(recording)->last;
    }
    st_recording_close(recording);
    if (!ok) return complain(STATUS_INPUT, "%s", err.message);
    if (!within(render, "--at", render->options->at) || !within(render, "--from", render->options->from))
        return STATUS_INPUT;
    *browser = find_browser();
    if (*browser == NULL)
        return complain(STATUS_FAILED,
                        "render: needs Chromium, and none is installed (Debian: apt-get install chromium; "
                        "or STICTION_BROWSER=...); stiction report and export need no other program");
    if (render->film && find_tool(film_tool) == NULL)
        return complain(STATUS_FAILED, "render: a film needs ffmpeg, and it is not installed (Debian: apt-get install "
                                       "ffmpeg); -o FOLDER/ makes frames without it");
    if (!make_scratch(render->folder, "render")) return STATUS_FAILED;
    render->frames = render->film ? render->folder : render->options->output;
    if (!render->single && !render->film && mkdir(render->frames, 0777) != 0 && errno != EEXIST)
        return complain(STATUS_INPUT, "%s: the folder cannot be made: %s", render->frames, strerror(errno));
    return -1;
}

static int render_main(int argc, char *const *argv)
{
    RenderOptions o = {0};
    Render render = {.options = &o};
    const char *words[MAX_WORDS], *browser = NULL;
    Server *server = calloc(1, sizeof *server);
    int status = command_read(&render_command, argc, argv, &o, words);
    if (status < 0 && server == NULL) status = complain(STATUS_FAILED, "out of memory");
    if (status < 0) status = check(&render);
    if (status < 0) await_signals();
    if (status < 0) status = prepare(&render, words[0], &browser);
    if (status < 0 && server != NULL) {
        server->ctx = &render;
        server->answer = answer;
        server->most_body = 64u << 20; /* for one frame */
        status = server_open(server, 0) ? collect(&render, server, browser) : STATUS_FAILED;
        server_close(server);
    }
    if (status == STATUS_OK && render.film && ending_signal() == 0) status = make_film(&render);
    remove_scratch(render.folder);
    if (ending_signal() != 0) status = complain(128 + ending_signal(), "render: interrupted");
    free(render.run);
    free(server);
    return status;
}
