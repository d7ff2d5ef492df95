// libcurl 7.88 reads an HTTP/2 connection for as long as more data is available and none of it belongs to a stream:
// window and priority frames, empty or padded data, trailers. OpenSSL does the same with TLS messages. libcurl calls
// no callback meanwhile, and all other transfers wait, so the reads are limited below OpenSSL.
#include "halcyon_curl.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdlib.h>

// The limit in bytes: the amount that one transfer buffers for its reader, as the body of an honest server is not
// read further in a turn either.
static const size_t limit = 256 << 10;

// The bytes that a TLS layer has read in the last turn in which it read.
struct halcyon_curl_layer {
    halcyon_curl_turns *turns;
    uint64_t turn;
    size_t count;
    // Whether it is inside of another layer, the one to a proxy. The outer layer is limited, and may hold bytes for
    // the inner one that no poll sees: if the inner one had to wait, it would wait for ever.
    bool is_inner;
};

static long limit_layer(
    BIO *bio, int operation, const char *bytes, size_t length, int argument, long value, int result,
    size_t *processed) {
    (void)bytes, (void)argument, (void)value, (void)processed;
    struct halcyon_curl_layer *layer = (struct halcyon_curl_layer *)BIO_get_callback_arg(bio);
    switch (operation) {
    case BIO_CB_FREE:
        free(layer);
        break;
    case BIO_CB_READ:
        if (layer->turns->reading != NULL) layer->turns->reading->is_inner = true;
        if (layer->turn != layer->turns->number) {
            layer->turn = layer->turns->number;
            layer->count = 0;
        }
        if (layer->count >= limit && !layer->is_inner) {
            BIO_clear_retry_flags(bio);
            BIO_set_retry_read(bio);
            return -1;
        }
        layer->count += length;
        layer->turns->reading = layer;
        break;
    case BIO_CB_READ | BIO_CB_RETURN:
        layer->turns->reading = NULL;
        break;
    }
    return result;
}

// Called with the first message, which is the client's.
static void add_limit(
    int is_sent, int version, int type, const void *bytes, size_t length, SSL *tls, void *turns) {
    (void)is_sent, (void)version, (void)type, (void)bytes, (void)length;
    BIO *bio = SSL_get_rbio(tls);
    struct halcyon_curl_layer *layer = bio == NULL ? NULL : calloc(1, sizeof *layer);
    // If there is no memory, the next message tries again.
    if (layer == NULL) return;
    layer->turns = turns;
    BIO_set_callback_arg(bio, (char *)layer);
    BIO_set_callback_ex(bio, limit_layer);
    SSL_set_msg_callback(tls, NULL);
}

static CURLcode prepare(CURL *easy, void *context, void *turns) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return CURLE_OK;
    if (session->backend != CURLSSLBACKEND_OPENSSL) return CURLE_OK;
    SSL_CTX_set_msg_callback(context, add_limit);
    SSL_CTX_set_msg_callback_arg(context, turns);
    return CURLE_OK;
}

CURLcode halcyon_curl_limit_reads(CURL *easy, halcyon_curl_turns *turns) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, turns);
}
