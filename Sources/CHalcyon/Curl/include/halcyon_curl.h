// libcurl's variadic calls, one function for each type of argument, since Swift cannot call them.
#ifndef HALCYON_CURL_H
#define HALCYON_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

CURLcode halcyon_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode halcyon_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode halcyon_curl_set_pointer(CURL *easy, CURLoption option, void *value);

/// Only http and https, by whichever option this libcurl has for it.
CURLcode halcyon_curl_allow_http_only(CURL *easy);

typedef size_t (*halcyon_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*halcyon_curl_ready_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

/// Called with the body's bytes as they come.
CURLcode halcyon_curl_set_write(CURL *easy, halcyon_curl_data_callback callback, void *context);
/// Called with each line of each head, and of the trailer.
CURLcode halcyon_curl_set_header(CURL *easy, halcyon_curl_data_callback callback, void *context);
/// Called once the connection stands, before the request is sent; anything but zero calls it off.
CURLcode halcyon_curl_set_ready(CURL *easy, halcyon_curl_ready_callback callback, void *context);

/// Called now and then, with the bytes of bodies, and with each byte that a proxy answers before it lets a connection
/// through; anything but zero ends the transfer.
CURLcode halcyon_curl_set_progress(CURL *easy, curl_xferinfo_callback callback, void *context);

/// Counts the curl thread's turns for the connections of its transfers. It outlives them.
typedef struct halcyon_curl_turns {
    uint64_t number;
    /// The layer of TLS that is reading; for `halcyon_curl_limit_reads` alone.
    struct halcyon_curl_layer *reading;
} halcyon_curl_turns;

/// Bounds what is read within one turn from each connection with TLS that this transfer makes: beyond that, libcurl is
/// told that nothing more has come yet. Without effect where libcurl has another TLS library than OpenSSL.
CURLcode halcyon_curl_limit_reads(CURL *easy, halcyon_curl_turns *turns);

/// Called with each address before it is connected to; it gives the socket for it, or none.
CURLcode halcyon_curl_set_open(CURL *easy, curl_opensocket_callback callback, void *context);
/// Writes the 4 or 16 bytes of an address of the Internet Protocol, and returns how many; 0 for any other.
int halcyon_curl_address(const struct curl_sockaddr *address, uint8_t *bytes);
/// A socket for an address, as libcurl would make it, that no child process inherits.
curl_socket_t halcyon_curl_socket(const struct curl_sockaddr *address);
curl_socket_t halcyon_curl_no_socket(void);

CURLcode halcyon_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode halcyon_curl_get_offset(CURL *easy, CURLINFO info, int64_t *value);

/// A multi handle that can be woken, and whose wake-up no child process inherits; NULL when there is no memory or no
/// descriptor for it.
CURLM *halcyon_curl_multi(void);
CURLMcode halcyon_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// A store of TLS sessions, and of cookies if wanted, that the transfers of one thread share; NULL when there is no
/// memory.
CURLSH *halcyon_curl_share(bool cookies);

/// The context that a finished transfer was given as CURLOPT_PRIVATE.
void *halcyon_curl_private(CURL *easy);

/// The next finished transfer and its result; NULL when there is none.
CURL *halcyon_curl_next_done(CURLM *multi, CURLcode *result);

#endif
