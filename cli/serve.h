/* cli/serve.h -- a web server for one person: on 127.0.0.1 only, for one page and one run.
 *
 * One thread: server_poll waits a little, reads and writes what it can, and hands whole requests to `answer`.
 * A request whose Host is not ours is refused, and so is one that comes from another page (Origin): neither a
 * renamed address nor a page elsewhere can reach the run. Every request must carry the key, a random number that is in
 * the address which was printed: so no other user of the machine can. Heads are checked before bodies are read.
 * Connections, what each of them keeps, and how long it may take are bounded; docs: SECURITY.md.
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
    size_t head;     /* bytes of a head that passed; 0: none yet     */
    Request request; /* its own                                      */
    bool streaming;  /* server-sent events: stays open               */
    bool closing;    /* after what is left was sent                  */
    double since;    /* of the last byte read or sent [s]            */
    double began;    /* of the first byte of the request [s]         */
} Client;

typedef struct Server {
    int fd, port;
    char key[SERVE_KEY_SIZE]; /* random: ?key= of the page, then its cookie; posts carry it in X-Stiction */
    size_t most_body;         /* of a post [bytes]                                                        */
    Client client[SERVE_MOST_CLIENTS];
    void *ctx;
    void (*answer)(struct Server *server, Client *client, const Request *request);
} Server;

/* Port 0: any that is free. False: it was said on stderr why not. */
bool server_open(Server *server, long port);
void server_close(Server *server);
void server_poll(Server *server, int milliseconds);

/* Answers, one for each request. The body is not copied: it stays where it is as long as the server does. */
void answer_with(Client *client, const char *status, const char *type, const void *body, size_t length);
/* JSON that begins with what changes: `first` is copied, `rest` is not. */
void answer_in_parts(Client *client, const char *type, const char *first, const char *rest);
void answer_text(Client *client, const char *status, const char *text);
void answer_page(const Server *server, Client *client); /* the viewer */
void start_stream(const Server *server, Client *client);
/* One event to all streams; a client that does not keep up misses some. */
void stream_event(Server *server, const char *data, size_t length);
int stream_count(const Server *server);

/* The value of a field of "a=1&b=2", in out; false: there is none. No escapes: our page needs none. */
bool form_value(const char *form, size_t length, const char *key, char *out, size_t size);
bool form_number(const char *form, size_t length, const char *key, double *out);

/* Show the address to the user, and open a browser where there is one. */
void open_browser(const char *address);

#endif
