// For SOCK_CLOEXEC and SO_DOMAIN.
#define _GNU_SOURCE

#include "halcyon_curl.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

CURLcode halcyon_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode halcyon_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode halcyon_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode halcyon_curl_allow_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

CURLcode halcyon_curl_set_write(CURL *easy, halcyon_curl_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

CURLcode halcyon_curl_set_header(CURL *easy, halcyon_curl_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
}

CURLcode halcyon_curl_set_ready(CURL *easy, halcyon_curl_ready_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

CURLcode halcyon_curl_set_progress(CURL *easy, curl_xferinfo_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_NOPROGRESS, callback == NULL ? 1L : 0L);
}

CURLcode halcyon_curl_set_open(CURL *easy, curl_opensocket_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}

int halcyon_curl_address(const struct curl_sockaddr *address, uint8_t *bytes) {
    switch (address->family) {
    case AF_INET:
        memcpy(bytes, &((const struct sockaddr_in *)&address->addr)->sin_addr, 4);
        return 4;
    case AF_INET6:
        memcpy(bytes, &((const struct sockaddr_in6 *)&address->addr)->sin6_addr, 16);
        return 16;
    default:
        return 0;
    }
}

curl_socket_t halcyon_curl_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

curl_socket_t halcyon_curl_no_socket(void) {
    return CURL_SOCKET_BAD;
}

CURLcode halcyon_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

CURLcode halcyon_curl_get_offset(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t offset = 0;
    CURLcode code = curl_easy_getinfo(easy, info, &offset);
    *value = (int64_t)offset;
    return code;
}

// The state of a descriptor among those that child processes inherit.
enum end { NO_PAIR = -1, QUIET = 0, READS = 1, WRITES = 2 };

// Returns whether a descriptor may be an end of a socket pair, and which end it is if a byte is in transit.
static int pair_end(int file) {
    int flags = fcntl(file, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0) return NO_PAIR;
    int domain = 0, type = 0, readable = 0, unread = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_UNIX) return NO_PAIR;
    length = sizeof type;
    if (getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return NO_PAIR;
    if (ioctl(file, FIONREAD, &readable) != 0 || ioctl(file, SIOCOUTQ, &unread) != 0) return NO_PAIR;
    return (readable == 1 ? READS : 0) | (unread > 0 ? WRITES : 0);
}

// Finds the two ends of the handle's wake-up among all descriptors of the process: only they change with it.
static bool find_wakeup(CURLM *multi, int found[2]) {
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) return false;
    int count[2] = {0, 0};
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        int file = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || pair_end(file) != QUIET) continue;
        if (curl_multi_wakeup(multi) != CURLM_OK) break;
        int end = pair_end(file);
        // Drains the byte.
        curl_multi_poll(multi, NULL, 0, 0, NULL);
        if ((end != READS && end != WRITES) || pair_end(file) != QUIET) continue;
        found[end == WRITES] = file;
        count[end == WRITES]++;
    }
    closedir(folder);
    return count[0] == 1 && count[1] == 1;
}

CURLM *halcyon_curl_multi(void) {
    CURLM *multi = curl_multi_init();
    if (multi == NULL) return NULL;
    if (curl_multi_wakeup(multi) != CURLM_OK) {
        curl_multi_cleanup(multi);
        return NULL;
    }
    curl_multi_poll(multi, NULL, 0, 0, NULL);
    // libcurl 7.88 creates the pair without SOCK_CLOEXEC and does not expose its descriptors.
    int pair[2];
    if (find_wakeup(multi, pair)) {
        fcntl(pair[0], F_SETFD, FD_CLOEXEC);
        fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    }
    return multi;
}

CURLMcode halcyon_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURLSH *halcyon_curl_share(bool cookies) {
    CURLSH *share = curl_share_init();
    if (share == NULL) return NULL;
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    if (cookies) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    return share;
}

void *halcyon_curl_private(CURL *easy) {
    char *context = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
    return context;
}

CURL *halcyon_curl_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
