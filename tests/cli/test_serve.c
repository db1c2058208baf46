/* The stream of a live run to a viewer that reads slowly: the waiting data is bounded, and the viewer receives whole
 * events, from the first to the last. */
#include "check.h"

#include "../../cli/form.c"  /* NOLINT(bugprone-suspicious-include): what serve.c needs */
#include "../../cli/serve.c" /* NOLINT(bugprone-suspicious-include): its inside is looked at */

#include <stdarg.h>

/* The parts of the program that serve.c needs. */
const unsigned char viewer_page[] = "";
const size_t viewer_page_size = 0;

int complain(int status, const char *format, ...)
{
    (void)format;
    return status;
}

double wall_seconds(void)
{
    return 0;
}

#define KEY "0123456789abcdef0123456789abcdef"
enum { EVENT = 1 << 16, EVENTS = 12000 };

/* The viewer reads an eighth of the data, always some: its queue never empties, and it never stops. */
static void a_slow_viewer_is_left_behind(void **state)
{
    (void)state;
    static Server server;
    static char event[EVENT], got[EVENT / 8];
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        server.client[k] = (Client){.fd = -1};
    Client *client = &server.client[0];
    *client = (Client){.fd = pair[0]};
    start_stream(&server, client);
    memset(event, 'x', sizeof event);
    size_t most = 0, read_bytes = 0;
    for (int k = 0; k < EVENTS; k++) {
        stream_event(&server, event, sizeof event);
        write_to(client);
        ssize_t n = recv(pair[1], got, sizeof got, MSG_DONTWAIT);
        if (n > 0) read_bytes += (size_t)n;
        if (client->out_room > most) most = client->out_room;
    }
    assert_true(read_bytes > EVENT); /* it was a slow one, not a dead one */
    /* waiting data is at most MOST_QUEUE and one event; its memory is at most twice as large, because it grows by
     * doubling */
    if (most > 4 * ((size_t)MOST_QUEUE + EVENT)) fail_msg("%zu bytes are kept for a viewer that is behind", most);
    drop(client);
    close(pair[1]);
}

/* After everything is read, the received data are whole events, none of them cut. */
static void events_arrive_whole(void **state)
{
    (void)state;
    static Server server;
    static char event[5000], got[4096];
    int pair[2], line = 0, events = 0;
    bool head = true;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        server.client[k] = (Client){.fd = -1};
    Client *client = &server.client[0];
    *client = (Client){.fd = pair[0]};
    start_stream(&server, client);
    memset(event, 'x', sizeof event);
    for (int k = 0; k < 20000; k++) {
        if (k < 4000) stream_event(&server, event, sizeof event);
        if (client->out_length > client->out_sent) write_to(client);
        ssize_t n = recv(pair[1], got, sizeof got, MSG_DONTWAIT);
        for (ssize_t i = 0; i < n; i++) { /* lines of "data: xxx", an empty one after each */
            if (got[i] != '\n') {
                line += got[i] != '\r';
                continue;
            }
            if (!head && line > 0) assert_int_equal(line, 6 + (int)sizeof event);
            if (!head && line > 0) events++;
            if (line == 0) head = false;
            line = 0;
        }
    }
    assert_int_equal(client->out_length, 0);
    assert_int_equal(line, 0);
    assert_true(events > 1000 && events <= 4000);
    drop(client);
    close(pair[1]);
}

/* Browsers leave out port 80, and no other. */
static void the_host_is_known_by_its_name(void **state)
{
    (void)state;
    static Server plain = {.port = 80, .key = KEY}, other = {.port = 8080, .key = KEY};
    const Request page = {.path = "/", .query = "key=" KEY};
    assert_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", &page));
    assert_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1\r\n\r\n", &page));
    assert_null(refuse(&other, "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", &page));
    assert_non_null(refuse(&other, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", &page));
    assert_non_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost.example.org\r\n\r\n", &page));
    assert_non_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", &page));
    /* two of them: whichever another program would have gone by */
    assert_non_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.com\r\n\r\n", &page));
}

/* The key is in the address, then in the cookie; requests that change something need the header, which no other page
 * can send. */
static void without_the_key_nothing_passes(void **state)
{
    (void)state;
    static Server server = {.port = 8080, .key = KEY};
    const Request none = {.path = "/"}, wrong = {.path = "/", .query = "key=0123456789abcdef0123456789abcde0"},
                  post = {.path = "/control", .post = true};
#define HEAD(more) "GET / HTTP/1.1\r\nHost: localhost:8080\r\n" more "\r\n"
    assert_non_null(refuse(&server, HEAD(""), &none));
    assert_non_null(refuse(&server, HEAD(""), &wrong));
    assert_null(refuse(&server, HEAD("Cookie: a=b; stiction8080=" KEY "; c=d\r\n"), &none));
    assert_non_null(refuse(&server, HEAD("Cookie: stiction80=" KEY "\r\n"), &none));
    assert_non_null(refuse(&server, HEAD("Cookie: stiction8080=" KEY "0\r\n"), &none));
    assert_non_null(refuse(&server, HEAD("Cookie: stiction8080=" KEY "\r\n"), &post));
    assert_null(refuse(&server, HEAD("X-Stiction: " KEY "\r\n"), &post));
    assert_non_null(refuse(&server, HEAD("X-Stiction: " KEY "\r\nX-Stiction: " KEY "\r\n"), &post));
}

/* ---- a whole server, driven through sockets ------------------------------------------------------- */

static char large[1 << 20]; /* an answer */

static void answer_large(Server *server, Client *client, const Request *request)
{
    (void)server, (void)request;
    answer_with(client, "200 OK", "text/plain", large, sizeof large);
}

static size_t memory_of(const Server *server)
{
    size_t sum = 0;
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        sum += server->client[k].in_room + server->client[k].out_room;
    return sum;
}

static int connect_to(const Server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* 3,000 requests sent at once and no answer read: one answer is under way, and nothing is kept of the others. */
static void pipelined_requests_wait_their_turn(void **state)
{
    (void)state;
    static Server server;
    char request[256];
    server.answer = answer_large;
    server.most_body = 4096;
    assert_true(server_open(&server, 0));
    const int fd = connect_to(&server);
    const int n = snprintf(request, sizeof request, "GET /run?key=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                           server.key, server.port);
    for (int k = 0, sent = 0; k < 3000; k++) {
        if (send(fd, request, (size_t)n, MSG_NOSIGNAL) == n) sent++;
        if (k % 10 == 0) server_poll(&server, 0);
        assert_true(memory_of(&server) <= 64u << 10);
        if (k == 2999) assert_true(sent > 100);
    }
    server_close(&server);
    close(fd);
}

/* A body is not waited for where the head does not pass, and is never longer than it may be. */
static void heads_are_checked_first(void **state)
{
    (void)state;
    static Server server;
    static const char *const lengths[] = {"67108864", "5000", "12x", "99999999999999999999999", "-1", ""};
    char request[256], got[256];
    server.answer = answer_large;
    server.most_body = 4096;
    assert_true(server_open(&server, 0));
    for (size_t k = 0; k < 2 * sizeof lengths / sizeof lengths[0]; k++) {
        const int fd = connect_to(&server);
        snprintf(request, sizeof request,
                 "POST /control HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Stiction: %s\r\nContent-Length: %s\r\n\r\n",
                 server.port, k % 2 == 0 ? "no key" : server.key, lengths[k / 2]);
        assert_true(send(fd, request, strlen(request), MSG_NOSIGNAL) > 0);
        ssize_t n = -1;
        for (int j = 0; j < 100 && n <= 0; j++) {
            server_poll(&server, 10);
            n = recv(fd, got, sizeof got - 1, 0);
        }
        assert_true(n > 0);
        got[n] = '\0';
        assert_non_null(strstr(got, "HTTP/1.1 4"));
        close(fd);
    }
    server_close(&server);
}

/* Clients that send half a request, or nothing, make room for one that sends a whole request. */
static void slow_clients_shut_nobody_out(void **state)
{
    (void)state;
    static Server server;
    int fd[3 * SERVE_MOST_CLIENTS];
    char request[256], got[64];
    server.answer = answer_large;
    assert_true(server_open(&server, 0));
    for (int k = 0; k < 3 * SERVE_MOST_CLIENTS; k++) {
        fd[k] = connect_to(&server);
        server_poll(&server, 10);
        (void)!send(fd[k], "GET /r", k % 2 == 0 ? 6 : 0, MSG_NOSIGNAL);
        server_poll(&server, 0);
    }
    const int last = connect_to(&server);
    snprintf(request, sizeof request, "GET /run?key=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", server.key,
             server.port);
    ssize_t n = -1;
    for (int j = 0; j < 100 && n <= 0; j++) {
        if (j == 1) assert_true(send(last, request, strlen(request), MSG_NOSIGNAL) > 0);
        server_poll(&server, 10);
        n = recv(last, got, sizeof got - 1, 0);
    }
    assert_true(n > 15 && memcmp(got, "HTTP/1.1 200", 12) == 0);
    server_close(&server);
    for (int k = 0; k < 3 * SERVE_MOST_CLIENTS; k++)
        close(fd[k]);
    close(last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_viewer_is_left_behind),       cmocka_unit_test(events_arrive_whole),
        cmocka_unit_test(the_host_is_known_by_its_name),      cmocka_unit_test(without_the_key_nothing_passes),
        cmocka_unit_test(pipelined_requests_wait_their_turn), cmocka_unit_test(heads_are_checked_first),
        cmocka_unit_test(slow_clients_shut_nobody_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
