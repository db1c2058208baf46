/* Requests to the viewer's server, byte by byte through a socket: bounded memory, and no answer without the key. */
#include "fuzz.h"

#include "../../cli/form.c"  /* NOLINT(bugprone-suspicious-include): what serve.c needs */
#include "../../cli/serve.c" /* NOLINT(bugprone-suspicious-include): its inside is looked at */

#include <stdarg.h>

/* The parts of the program that serve.c needs. */
const unsigned char viewer_page[] = "page";
const size_t viewer_page_size = 4;
int complain(int status, const char *format, ...)
{
    (void)format;
    return status;
}
double wall_seconds(void)
{
    return 0;
}

static int answered;

static void answer(Server *server, Client *client, const Request *request)
{
    (void)server;
    answered++;
    MUST(request->length <= server->most_body && memchr(request->path, '\0', sizeof request->path) != NULL);
    if (request->post)
        answer_text(client, "200 OK", "");
    else if (strcmp(request->path, "/events") == 0)
        start_stream(server, client);
    else
        answer_page(server, client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Server server;
    char head[256];
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    server.answer = answer;
    server.most_body = 4096;
    server.port = 8080;
    server.fd = -1;
    snprintf(server.key, sizeof server.key, "0123456789abcdef0123456789abcdef");
    for (int k = 0; k < SERVE_MOST_CLIENTS; k++)
        server.client[k] = (Client){.fd = -1};
    Client *client = &server.client[0];
    client->fd = pair[0];
    /* an odd first byte: with a good head before it */
    if (size > 0 && data[0] % 2 == 1) {
        const int n = snprintf(head, sizeof head,
                               "POST /control HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Stiction: %s\r\n", server.key);
        MUST(send(pair[1], head, (size_t)n, 0) == n);
    }
    for (size_t at = 0, k = 0; at < size && client->fd >= 0 && k < 64; k++) {
        const size_t part = size - at < 700 ? size - at : 700;
        const ssize_t sent = send(pair[1], data + at, part, MSG_NOSIGNAL);
        if (sent > 0) at += (size_t)sent;
        read_from(&server, client);
        for (int j = 0; j < 8 && client->fd >= 0 && is_sending(client); j++) {
            char nothing[4096];
            write_to(client);
            (void)!recv(pair[1], nothing, sizeof nothing, 0);
            if (client->fd >= 0 && !is_sending(client)) take_requests(&server, client);
        }
        MUST(client->fd < 0 || client->in_room + client->out_room <= 64u << 10);
    }
    drop(client);
    close(pair[1]);
    return 0;
}
