#define _XOPEN_SOURCE 700
#include "serve.h"

#include "command.h"
#include "page.h"
#include "progress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_HEAD  16384
#define MOST_BODY  (64u << 20) /* a rendered frame            */
#define MOST_QUEUE (8u << 20)  /* waiting events of a stream  */
#define IDLE       30.0        /* [s]                         */

/* ---- opening ------------------------------------------------------------------------------------ */

static bool make_key(char key[SERVE_KEY_SIZE])
{
    unsigned char bytes[16];
    FILE *file = fopen("/dev/urandom", "rb");
    size_t n = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL) fclose(file);
    for (size_t k = 0; k < n; k++)
        snprintf(key + 2 * k, 3, "%02x", bytes[k]);
    return n == sizeof bytes;
}

bool server_open(Server *server, long port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        server->client[k] = (Client){.fd = -1};
    if (!make_key(server->key)) return complain(STATUS_FAILED, "no random numbers from /dev/urandom"), false;
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (server->fd < 0) return complain(STATUS_FAILED, "no socket: %s", strerror(errno)), false;
    setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(server->fd, 16) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &size) != 0) {
        if (errno == EADDRINUSE)
            complain(STATUS_FAILED, "port %ld of 127.0.0.1 is in use; without --port any that is free is taken", port);
        else
            complain(STATUS_FAILED, "port %ld of 127.0.0.1: %s", port, strerror(errno));
        close(server->fd);
        server->fd = -1;
        return false;
    }
    fcntl(server->fd, F_SETFL, O_NONBLOCK);
    fcntl(server->fd, F_SETFD, FD_CLOEXEC);
    server->port = ntohs(address.sin_port);
    return true;
}

static void drop(Client *client)
{
    if (client->fd >= 0) close(client->fd);
    free(client->in);
    free(client->out);
    *client = (Client){.fd = -1};
}

void server_close(Server *server)
{
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        drop(&server->client[k]);
    if (server->fd >= 0) close(server->fd);
    server->fd = -1;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static bool reserve(char **memory, size_t *room, size_t size)
{
    if (size <= *room) return true;
    size_t grown = *room > 0 ? *room : 4096;
    while (grown < size)
        grown *= 2;
    char *moved = realloc(*memory, grown);
    if (moved == NULL) return false;
    *memory = moved;
    *room = grown;
    return true;
}

static void queue(Client *client, const void *bytes, size_t length)
{
    if (length == 0) return;
    if (!reserve(&client->out, &client->out_room, client->out_length + length)) {
        client->closing = true;
        return;
    }
    memcpy(client->out + client->out_length, bytes, length);
    client->out_length += length;
}

static void queue_head(Client *client, const char *status, const char *type, const char *more)
{
    char head[1024];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                     "X-Frame-Options: DENY\r\n%s\r\n",
                     status, type, more);
    queue(client, head, (size_t)n);
}

void answer_with(Client *client, const char *status, const char *type, const void *body, size_t length)
{
    char more[80];
    snprintf(more, sizeof more, "Content-Length: %zu\r\n", length);
    queue_head(client, status, type, more);
    queue(client, body, length);
}

void answer_text(Client *client, const char *status, const char *text)
{
    answer_with(client, status, "text/plain; charset=utf-8", text, strlen(text));
}

void answer_page(Client *client)
{
    char more[400];
    snprintf(
        more, sizeof more,
        "Content-Length: %zu\r\nContent-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src "
        "'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'\r\n",
        viewer_page_size);
    queue_head(client, "200 OK", "text/html; charset=utf-8", more);
    queue(client, viewer_page, viewer_page_size);
}

void start_stream(Client *client)
{
    queue_head(client, "200 OK", "text/event-stream", "");
    client->streaming = true;
}

void stream_event(Server *server, const char *data, size_t length)
{
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++) {
        Client *client = &server->client[k];
        if (client->fd < 0 || !client->streaming || client->out_length - client->out_sent > MOST_QUEUE) continue;
        queue(client, "data: ", 6);
        queue(client, data, length);
        queue(client, "\n\n", 2);
    }
}

int stream_count(const Server *server)
{
    int n = 0;
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        n += server->client[k].fd >= 0 && server->client[k].streaming;
    return n;
}

/* ---- requests ----------------------------------------------------------------------------------- */

/* The value of a header in the head (which ends in a zero byte), in out; false: it is not there. */
static bool header(const char *head, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':') continue;
        const char *value = line + 3 + length + strspn(line + 3 + length, " \t");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\r\n"), value);
        return true;
    }
    return false;
}

/* Is `text` PREFIX 127.0.0.1:port, or localhost:port? Port 80 need not be said, and browsers do not. */
static bool is_here(const Server *server, const char *text, const char *prefix)
{
    char name[64];
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%s%s:%d", prefix, names[k], server->port);
        if (strcasecmp(text, name) == 0) return true;
        snprintf(name, sizeof name, "%s%s", prefix, names[k]);
        if (server->port == 80 && strcasecmp(text, name) == 0) return true;
    }
    return false;
}

/* NULL: it may pass; else why not. */
static const char *refuse(const Server *server, const char *head, bool post)
{
    char value[256];
    if (!header(head, "Host", value, sizeof value) || !is_here(server, value, "")) return "not this host\n";
    if (header(head, "Origin", value, sizeof value) && !is_here(server, value, "http://"))
        return "not from another page\n";
    if (post && (!header(head, "X-Stiction", value, sizeof value) || strcmp(value, server->key) != 0))
        return "the key is missing\n";
    return NULL;
}

static bool read_line(const char *head, Request *request)
{
    char method[8], target[600], version[16];
    if (sscanf(head, "%7s %599s %15s", method, target, version) != 3 || strncmp(version, "HTTP/1.", 7) != 0)
        return false;
    request->post = strcmp(method, "POST") == 0;
    if (!request->post && strcmp(method, "GET") != 0) return false;
    size_t n = strcspn(target, "?");
    if (target[0] != '/' || n >= sizeof request->path || strlen(target + n) > sizeof request->query) return false;
    memcpy(request->path, target, n);
    request->path[n] = '\0';
    snprintf(request->query, sizeof request->query, "%s", target[n] == '?' ? target + n + 1 : "");
    return true;
}

/* The request at the start of what was read; bytes it takes, 0: more must come. */
static size_t take_request(Server *server, Client *client)
{
    Request request = {0};
    char value[32];
    const char *end = NULL;
    for (size_t k = 0; k + 4 <= client->in_length && end == NULL; k++)
        if (memcmp(client->in + k, "\r\n\r\n", 4) == 0) end = client->in + k;
    size_t head = end != NULL ? (size_t)(end - client->in) + 4 : client->in_length;
    if (end == NULL && client->in_length <= MOST_HEAD) return 0;
    client->in[head - 2] = '\0'; /* the last header keeps its \r\n before it */
    bool sound = end != NULL && head <= MOST_HEAD && memchr(client->in, '\0', head - 2) == NULL &&
                 read_line(client->in, &request);
    double length = 0;
    if (sound && header(client->in, "Content-Length", value, sizeof value)) length = strtod(value, NULL);
    if (sound && header(client->in, "Transfer-Encoding", value, sizeof value)) sound = false;
    if (!sound || !(length >= 0) || length > MOST_BODY) {
        answer_text(client, "400 Bad Request", "this is not a request of the page\n");
        client->closing = true;
        return client->in_length;
    }
    if (client->in_length < head + (size_t)length) {
        client->in[head - 2] = '\r';
        return 0;
    }
    const char *why = refuse(server, client->in, request.post);
    request.body = client->in + head;
    request.length = (size_t)length;
    if (why != NULL) {
        answer_text(client, "403 Forbidden", why);
        client->closing = true;
    } else {
        server->answer(server, client, &request);
    }
    return head + (size_t)length;
}

static void read_from(Server *server, Client *client)
{
    if (!reserve(&client->in, &client->in_room, client->in_length + 65536)) {
        drop(client);
        return;
    }
    ssize_t n = recv(client->fd, client->in + client->in_length, 65536 - 1, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(client);
        return;
    }
    if (n < 0) return;
    client->since = wall_seconds();
    client->in_length += (size_t)n;
    for (size_t used; client->in_length > 0 && !client->closing && (used = take_request(server, client)) > 0;) {
        memmove(client->in, client->in + used, client->in_length - used);
        client->in_length -= used;
    }
}

static void write_to(Client *client)
{
    ssize_t n = send(client->fd, client->out + client->out_sent, client->out_length - client->out_sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        drop(client);
        return;
    }
    if (n > 0) client->out_sent += (size_t)n;
    /* What is sent is let go once it is the larger part: a viewer that never catches up costs no more than the queue.
     */
    if (client->out_sent > client->out_length - client->out_sent) {
        memmove(client->out, client->out + client->out_sent, client->out_length - client->out_sent);
        client->out_length -= client->out_sent;
        client->out_sent = 0;
    }
    if (client->out_sent == client->out_length) {
        client->out_sent = client->out_length = 0;
        if (client->closing) drop(client);
    }
}

static void take_client(Server *server)
{
    int fd = accept(server->fd, NULL, NULL);
    if (fd < 0) return;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        if (server->client[k].fd < 0) {
            server->client[k] = (Client){.fd = fd, .since = wall_seconds()};
            return;
        }
    close(fd); /* too many */
}

void server_poll(Server *server, int milliseconds)
{
    struct pollfd polled[SERVE_MOST_CLIENTS + 1];
    polled[SERVE_MOST_CLIENTS] = (struct pollfd){.fd = server->fd, .events = POLLIN};
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++) {
        const Client *c = &server->client[k];
        polled[k] =
            (struct pollfd){.fd = c->fd, .events = (short)(c->out_length > c->out_sent ? POLLIN | POLLOUT : POLLIN)};
    }
    if (poll(polled, SERVE_MOST_CLIENTS + 1, milliseconds) < 0) return;
    double now = wall_seconds();
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++) {
        Client *client = &server->client[k];
        if (client->fd >= 0 && (polled[k].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(server, client);
        if (client->fd >= 0 && client->out_length > client->out_sent) write_to(client);
        if (client->fd >= 0 && !client->streaming && client->out_length == 0 && now - client->since > IDLE)
            drop(client);
    }
    if ((polled[SERVE_MOST_CLIENTS].revents & POLLIN) != 0) take_client(server);
}

/* ---- forms, browsers ---------------------------------------------------------------------------- */

bool form_value(const char *form, size_t length, const char *key, char *out, size_t size)
{
    size_t n = strlen(key);
    for (size_t at = 0; at < length;) {
        const char *next = memchr(form + at, '&', length - at);
        size_t end = next != NULL ? (size_t)(next - form) : length;
        if (end - at > n && memcmp(form + at, key, n) == 0 && form[at + n] == '=') {
            snprintf(out, size, "%.*s", (int)(end - at - n - 1), form + at + n + 1);
            return true;
        }
        at = end + 1;
    }
    return false;
}

bool form_number(const char *form, size_t length, const char *key, double *out)
{
    char text[64], *end = NULL;
    if (!form_value(form, length, key, text, sizeof text)) return false;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value)) return false;
    *out = value;
    return true;
}

void open_browser(const char *address)
{
    /* Over ssh, or with no screen, an address to copy is all there can be. */
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL && getenv("BROWSER") == NULL) return;
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork(); /* so that nobody has to wait for the browser */
        if (grandchild == 0) {
            int null = open("/dev/null", O_RDWR);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
            execlp("sensible-browser", "sensible-browser", address, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
}
