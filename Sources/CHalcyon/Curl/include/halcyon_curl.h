// Wrappers of libcurl's variadic functions, one for each type of argument, since Swift cannot call them.
#ifndef HALCYON_CURL_H
#define HALCYON_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

CURLcode halcyon_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode halcyon_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode halcyon_curl_set_pointer(CURL *easy, CURLoption option, void *value);

/// Allows only http and https, by whichever option this libcurl has for it.
CURLcode halcyon_curl_allow_http_only(CURL *easy);

typedef size_t (*halcyon_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*halcyon_curl_ready_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

/// Sets the callback for the body's bytes as they arrive.
CURLcode halcyon_curl_set_write(CURL *easy, halcyon_curl_data_callback callback, void *context);
/// Sets the callback for each line of each head, and of the trailer.
CURLcode halcyon_curl_set_header(CURL *easy, halcyon_curl_data_callback callback, void *context);
/// Sets the callback that runs once the connection is established, before the request is sent; a result other than
/// zero cancels it.
CURLcode halcyon_curl_set_ready(CURL *easy, halcyon_curl_ready_callback callback, void *context);

/// Sets the callback that runs periodically, with the bytes of bodies, and with each byte that a proxy sends before
/// it establishes a tunnel; a result other than zero ends the transfer.
CURLcode halcyon_curl_set_progress(CURL *easy, curl_xferinfo_callback callback, void *context);

/// The curl thread's turn counter for the connections of its transfers. It outlives them.
typedef struct halcyon_curl_turns {
    uint64_t number;
    /// The TLS layer that is reading; only for `halcyon_curl_limit_reads`.
    struct halcyon_curl_layer *reading;
} halcyon_curl_turns;

/// Limits the bytes that are read within one turn from each TLS connection of this transfer: beyond the limit,
/// libcurl sees no more data for now. No effect if libcurl has another TLS library than OpenSSL.
CURLcode halcyon_curl_limit_reads(CURL *easy, halcyon_curl_turns *turns);

/// Sets the callback that is called with each address before a connection to it; it returns the socket for it, or
/// none.
CURLcode halcyon_curl_set_open(CURL *easy, curl_opensocket_callback callback, void *context);
/// Writes the 4 or 16 bytes of an IP address, and returns their number; 0 for any other address.
int halcyon_curl_address(const struct curl_sockaddr *address, uint8_t *bytes);
/// Creates a socket for an address, as libcurl would, that no child process inherits.
curl_socket_t halcyon_curl_socket(const struct curl_sockaddr *address);
curl_socket_t halcyon_curl_no_socket(void);

CURLcode halcyon_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode halcyon_curl_get_offset(CURL *easy, CURLINFO info, int64_t *value);

/// Creates a multi handle that can be woken up, and whose wake-up no child process inherits; NULL if there is no
/// memory or no descriptor for it.
CURLM *halcyon_curl_multi(void);
CURLMcode halcyon_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Creates a store of TLS sessions, and optionally of cookies, that the transfers of one thread share; NULL if there
/// is no memory.
CURLSH *halcyon_curl_share(bool cookies);

/// Returns the context that a finished transfer was given as CURLOPT_PRIVATE.
void *halcyon_curl_private(CURL *easy);

/// Returns the next finished transfer and its result; NULL if there is none.
CURL *halcyon_curl_next_done(CURLM *multi, CURLcode *result);

#endif
