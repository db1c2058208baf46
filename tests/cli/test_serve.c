/* The stream of a live run to a viewer that reads slowly: what waits for it is bounded, and what it does get is whole
 * events, the first as well as the last.
 */
#include "check.h"

#include "../../cli/serve.c" /* NOLINT(bugprone-suspicious-include): its inside is looked at */

#include <stdarg.h>

/* What serve.c needs of the rest of the program. */
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

enum { EVENT = 1 << 16, EVENTS = 12000 };

/* An eighth of what is sent is read, always some: it never drains, and never stops. */
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
    start_stream(client);
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
    /* what waits is MOST_QUEUE and one event more; it stands in a room twice as large at most, grown by doubling */
    if (most > 4 * ((size_t)MOST_QUEUE + EVENT)) fail_msg("%zu bytes are kept for a viewer that is behind", most);
    drop(client);
    close(pair[1]);
}

/* What comes through, after all of it is read, is events one after another, none of them cut. */
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
    start_stream(client);
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
    static Server plain = {.port = 80}, other = {.port = 8080};
    assert_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", false));
    assert_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1\r\n\r\n", false));
    assert_null(refuse(&other, "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", false));
    assert_non_null(refuse(&other, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", false));
    assert_non_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost.example.org\r\n\r\n", false));
    assert_non_null(refuse(&plain, "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_viewer_is_left_behind),
        cmocka_unit_test(events_arrive_whole),
        cmocka_unit_test(the_host_is_known_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
