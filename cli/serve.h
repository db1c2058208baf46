/* cli/serve.h -- a web server for one user: on 127.0.0.1 only, for one page and one run.
 *
 * It has one thread: server_poll waits briefly, reads and writes as much as it can, and passes complete requests to
 * `answer`. A request with another Host is refused, and so is one from another page (Origin): neither a renamed
 * address nor a foreign page can reach the run. Every request must carry the key, a random number in the printed
 * address, so no other user of the machine can reach it. Heads are checked before bodies are read. The number of
 * connections, their memory and their time are limited; see SECURITY.md.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#define SERVE_MOST_CLIENTS 32
#define SERVE_KEY_SIZE     33

typedef struct Request {
    bool post;
    char path[64];   /* "/run"                            */
    char query[512]; /* after the "?"                     */
    const char *body;
    size_t length;
} Request;

typedef struct Client {
    int fd;         /* -1: free */
    char *in, *out; /* requests; heads of answers, and events */
    size_t in_length, in_room, out_length, out_sent, out_room;
    const char *rest; /* the body of an answer, after `out` */
    size_t rest_length, rest_sent;
    size_t head;     /* bytes of an accepted head; 0: none yet */
    Request request; /* its own                                      */
    bool streaming;  /* server-sent events: stays open               */
    bool closing;    /* close after the rest is sent */
    double since;    /* time of the last byte read or sent [s] */
    double began;    /* time of the first byte of the request [s] */
} Client;

typedef struct Server {
    int fd, port;
    char key[SERVE_KEY_SIZE]; /* random: ?key= of the page, then its cookie; posts have it in X-Stiction */
    size_t most_body;         /* largest post [bytes] */
    Client client[SERVE_MOST_CLIENTS];
    void *ctx;
    void (*answer)(struct Server *server, Client *client, const Request *request);
} Server;

/* Port 0: any free one. False: the reason was printed on stderr. */
bool server_open(Server *server, long port);
void server_close(Server *server);
void server_poll(Server *server, int milliseconds);

/* Answers a request. The body is not copied: it must live as long as the server. */
void answer_with(Client *client, const char *status, const char *type, const void *body, size_t length);
/* JSON that begins with the part that changes: `first` is copied, `rest` is not. */
void answer_in_parts(Client *client, const char *type, const char *first, const char *rest);
void answer_text(Client *client, const char *status, const char *text);
void answer_page(const Server *server, Client *client); /* the viewer */
void start_stream(const Server *server, Client *client);
/* Sends one event to all streams; slow clients miss some. */
void stream_event(Server *server, const char *data, size_t length);
int stream_count(const Server *server);

/* Copies the value of a field of "a=1&b=2" to out; false: there is none. Escapes are not supported: our page needs
 * none. */
bool form_value(const char *form, size_t length, const char *key, char *out, size_t size);
bool form_number(const char *form, size_t length, const char *key, double *out);

/* Prints the address, and opens a browser if there is one. */
void open_browser(const char *address);

#endif
