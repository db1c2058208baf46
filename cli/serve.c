#define _XOPEN_SOURCE 700
#include "serve.h"

#include "command.h"
#include "page.h"
#include "progress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory per connection: a head, a body (server->most_body), the head of an answer, and one event beyond MOST_QUEUE.
 * Answers are not copied. The next request of a connection is read only after the last one is answered and sent. */
#define MOST_HEAD    16384
#define MOST_QUEUE   (256u << 10) /* waiting events of a stream; more are dropped */
#define MOST_STREAMS 8
#define IDLE         30.0 /* between requests [s]                          */
#define ARRIVE       10.0 /* from the first byte of a request to its last [s] */
#define STALLED      20.0 /* a client that does not read its answer [s] */

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
            complain(STATUS_FAILED, "port %ld of 127.0.0.1 is in use; without --port, any free port is used", port);
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

/* `first` is copied; `rest` is sent from its own memory. */
static void answer_from(Client *client, const char *status, const char *type, const char *more, const char *first,
                        const void *rest, size_t length)
{
    char lines[1024];
    snprintf(lines, sizeof lines, "Content-Length: %zu\r\n%s", strlen(first) + length, more);
    queue_head(client, status, type, lines);
    queue(client, first, strlen(first));
    client->rest = rest;
    client->rest_length = length;
    client->rest_sent = 0;
}

void answer_with(Client *client, const char *status, const char *type, const void *body, size_t length)
{
    answer_from(client, status, type, "", "", body, length);
}

void answer_in_parts(Client *client, const char *type, const char *first, const char *rest)
{
    answer_from(client, "200 OK", type, "", first, rest, strlen(rest));
}

void answer_text(Client *client, const char *status, const char *text)
{
    answer_with(client, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* The page's requests carry the key in a cookie. Cookies are not separated by port, so the port is part of its name. */
void answer_page(const Server *server, Client *client)
{
    char more[512];
    snprintf(more, sizeof more,
             "Set-Cookie: stiction%d=%s; Path=/; HttpOnly; SameSite=Strict\r\n"
             "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
             "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'\r\n",
             server->port, server->key);
    answer_from(client, "200 OK", "text/html; charset=utf-8", more, "", viewer_page, viewer_page_size);
}

void start_stream(const Server *server, Client *client)
{
    if (stream_count(server) >= MOST_STREAMS) {
        answer_text(client, "503 Too Many", "too many look at it already\n");
        return;
    }
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

/* Copies the value of a header in the head (which ends in a zero byte) to out; returns how often it occurs. */
static int header(const char *head, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    int n = 0;
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':') continue;
        const char *value = line + 3 + length + strspn(line + 3 + length, " \t");
        if (n++ == 0) snprintf(out, size, "%.*s", (int)strcspn(value, "\r\n"), value);
    }
    return n;
}

/* Compares in constant time, so that timing reveals nothing. */
static bool same_key(const char *key, const char *text, size_t length)
{
    unsigned char differ = length == SERVE_KEY_SIZE - 1 ? 0 : 1;
    for (size_t k = 0; k < SERVE_KEY_SIZE - 1 && k < length; k++)
        differ |= (unsigned char)(key[k] ^ text[k]);
    return differ == 0;
}

/* Is the key in the cookie that the page was given? */
static bool has_cookie(const Server *server, const char *head)
{
    char value[1024], name[32];
    if (header(head, "Cookie", value, sizeof value) != 1) return false;
    const int n = snprintf(name, sizeof name, "stiction%d=", server->port);
    for (const char *at = value; at != NULL && *at != '\0'; at = strchr(at, ';')) {
        at += strspn(at, "; ");
        if (strncmp(at, name, (size_t)n) == 0) return same_key(server->key, at + n, strcspn(at + n, "; "));
    }
    return false;
}

/* Is `text` PREFIX 127.0.0.1:port, or localhost:port? Browsers omit port 80. */
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

/* Check a request. Returns NULL to accept it, or the reason to refuse it. The page needs the key from the printed
 * address; all other requests need the cookie that the page received. A request that changes the run also needs a
 * header that no other page can send.                                                                            */
static const char *refuse(const Server *server, const char *head, const Request *request)
{
    char value[256], key[SERVE_KEY_SIZE + 1];
    if (header(head, "Host", value, sizeof value) != 1 || !is_here(server, value, "")) return "not this host\n";
    const int origins = header(head, "Origin", value, sizeof value);
    if (origins > 1 || (origins == 1 && !is_here(server, value, "http://"))) return "not from another page\n";
    const bool sent = header(head, "X-Stiction", value, sizeof value) == 1;
    const bool by_header = sent && same_key(server->key, value, strlen(value));
    const bool by_address = form_value(request->query, strlen(request->query), "key", key, sizeof key) &&
                            same_key(server->key, key, strlen(key));
    if (request->post ? by_header : by_header || by_address || has_cookie(server, head)) return NULL;
    return "the key is missing: open the address that stiction printed\n";
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

static void refuse_with(Client *client, const char *status, const char *why)
{
    answer_text(client, status, why);
    client->closing = true;
    client->in_length = 0;
}

/* Reads "123", and nothing else. False: it is not a number, or above `most`. */
static bool read_length(const char *text, size_t most, size_t *out)
{
    size_t n = 0;
    if (text[0] == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        n = 10 * n + (size_t)(*text - '0');
        if (n > most) return false;
    }
    *out = n;
    return true;
}

/* Length of the head at the start of the input; 0: incomplete. */
static size_t head_length(const Client *client)
{
    for (size_t k = 0; k + 4 <= client->in_length; k++)
        if (memcmp(client->in + k, "\r\n\r\n", 4) == 0) return k + 4;
    return 0;
}

/* The head of a request is complete: if it is accepted, client->request is filled, and its body may be read. */
static void take_head(const Server *server, Client *client, size_t head)
{
    Request *request = &client->request;
    char value[64];
    *request = (Request){0};
    client->in[head - 2] = '\0'; /* so that the last header still ends in \r
                                  *  */
    bool sound = memchr(client->in, '\0', head - 2) == NULL && read_line(client->in, request);
    const int lengths = sound ? header(client->in, "Content-Length", value, sizeof value) : 0;
    if (lengths > 1 || (lengths == 1 && !read_length(value, SIZE_MAX / 2, &request->length))) sound = false;
    if (sound && header(client->in, "Transfer-Encoding", value, sizeof value) > 0) sound = false;
    if (!sound) {
        refuse_with(client, "400 Bad Request", "this is not a request of the page\n");
        return;
    }
    const char *why = refuse(server, client->in, request);
    if (why != NULL)
        refuse_with(client, "403 Forbidden", why);
    else if (request->length > (request->post ? server->most_body : 0))
        refuse_with(client, "413 Too Large", "too much\n");
    else
        client->head = head;
}

static bool is_sending(const Client *client)
{
    return client->out_length > client->out_sent || client->rest_length > client->rest_sent;
}

/* Handles the requests in the input, each after the answer to the last is sent. */
static void take_requests(Server *server, Client *client)
{
    while (client->fd >= 0 && client->in_length > 0 && !client->closing && !client->streaming && !is_sending(client)) {
        if (client->head == 0) {
            const size_t head = head_length(client);
            if (head == 0 && client->in_length < MOST_HEAD) return;
            if (head == 0 || head > MOST_HEAD)
                refuse_with(client, "400 Bad Request", "this is not a request of the page\n");
            else
                take_head(server, client, head);
            if (client->head == 0) return;
        }
        const size_t all = client->head + client->request.length;
        if (client->in_length < all) return;
        client->request.body = client->in + client->head;
        server->answer(server, client, &client->request);
        memmove(client->in, client->in + all, client->in_length - all);
        client->in_length -= all;
        client->head = 0;
        client->began = client->since;
    }
}

/* Makes room for the head, or for the whole request once its head is accepted; later bytes wait in the socket. */
static void read_from(Server *server, Client *client)
{
    char nothing[512];
    const size_t most = client->head > 0 ? client->head + client->request.length : MOST_HEAD;
    const bool wanted = !client->streaming && client->in_length < most;
    if (wanted &&
        !reserve(&client->in, &client->in_room, most < client->in_length + 4096 ? most : client->in_length + 4096)) {
        drop(client);
        return;
    }
    const size_t room = client->in_room < most ? client->in_room : most;
    const ssize_t n = wanted ? recv(client->fd, client->in + client->in_length, room - client->in_length, 0)
                             : recv(client->fd, nothing, sizeof nothing, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(client);
        return;
    }
    if (n < 0 || !wanted) return;
    client->since = wall_seconds();
    if (client->in_length == 0) client->began = client->since;
    client->in_length += (size_t)n;
    take_requests(server, client);
}

/* Sends waiting data in order: the queue, then the body of the answer. */
static void write_to(Client *client)
{
    const bool queued = client->out_length > client->out_sent;
    const char *from = queued ? client->out + client->out_sent : client->rest + client->rest_sent;
    const size_t left = queued ? client->out_length - client->out_sent : client->rest_length - client->rest_sent;
    ssize_t n = send(client->fd, from, left, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        drop(client);
        return;
    }
    if (n > 0) client->since = wall_seconds();
    if (n > 0) *(queued ? &client->out_sent : &client->rest_sent) += (size_t)n;
    /* Sent data is dropped once it is the larger part: a viewer that never catches up costs no more than the queue. */
    if (client->out_sent > client->out_length - client->out_sent) {
        memmove(client->out, client->out + client->out_sent, client->out_length - client->out_sent);
        client->out_length -= client->out_sent;
        client->out_sent = 0;
    }
    if (is_sending(client)) return;
    client->rest_length = client->rest_sent = 0;
    if (client->closing) drop(client);
}

/* Is the client too slow, or closed? */
static bool is_late(const Client *client, double now)
{
    if (is_sending(client)) return now - client->since > STALLED;
    if (client->streaming) return false;
    return client->in_length > 0 ? now - client->began > ARRIVE : now - client->since > IDLE;
}

/* A slot for a new client: a free one, or that of the longest idle client. -1: all are busy. */
static int find_place(Server *server)
{
    int quiet = -1;
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++) {
        const Client *client = &server->client[k];
        if (client->fd < 0) return k;
        if (client->streaming || is_sending(client)) continue;
        if (quiet < 0 || client->began < server->client[quiet].began) quiet = k;
    }
    if (quiet >= 0) drop(&server->client[quiet]);
    return quiet;
}

static void take_client(Server *server)
{
    int fd = accept(server->fd, NULL, NULL);
    if (fd < 0) return;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    const int place = find_place(server);
    const double now = wall_seconds();
    if (place >= 0)
        server->client[place] = (Client){.fd = fd, .since = now, .began = now};
    else
        close(fd); /* too many */
}

void server_poll(Server *server, int milliseconds)
{
    struct pollfd polled[SERVE_MOST_CLIENTS + 1];
    polled[SERVE_MOST_CLIENTS] = (struct pollfd){.fd = server->fd, .events = POLLIN};
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++) { /* a client that is receiving is not read */
        const Client *c = &server->client[k];
        polled[k] = (struct pollfd){.fd = c->fd, .events = is_sending(c) ? POLLOUT : POLLIN};
    }
    if (poll(polled, SERVE_MOST_CLIENTS + 1, milliseconds) < 0) return;
    const double now = wall_seconds();
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++) {
        Client *client = &server->client[k];
        const bool sending = is_sending(client);
        if (client->fd >= 0 && !sending && (polled[k].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            read_from(server, client);
        if (client->fd >= 0 && sending && (polled[k].revents & (POLLHUP | POLLERR)) != 0) drop(client);
        if (client->fd >= 0 && is_sending(client)) write_to(client);
        if (client->fd >= 0 && !is_sending(client)) take_requests(server, client); /* the next of several requests */
        if (client->fd >= 0 && is_late(client, now)) drop(client);
    }
    if ((polled[SERVE_MOST_CLIENTS].revents & POLLIN) != 0) take_client(server);
}

/* ---- browsers ----------------------------------------------------------------------------------  */

void open_browser(const char *address)
{
    /* Over ssh, or without a screen, only the address is printed. */
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL && getenv("BROWSER") == NULL) return;
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork(); /* so that no process waits for the browser */
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
