#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "floors.h"

typedef struct {
    CURL *easy;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} transfer;

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    transfer *to = context;
    size_t length = size * count;
    if (to->count + length > to->capacity) {
        size_t capacity = (to->count + length) * 2;
        uint8_t *longer = realloc(to->bytes, capacity);
        if (longer == NULL) return 0;
        to->bytes = longer;
        to->capacity = capacity;
    }
    memcpy(to->bytes + to->count, bytes, length);
    to->count += length;
    return length;
}

static void start(CURLM *multi, transfer *one, const bench_requests *job, int index) {
    char url[256];
    one->count = 0;
    snprintf(url, sizeof url, "%s%d.jpg", job->base_url, index % job->files);
    curl_easy_setopt(one->easy, CURLOPT_URL, url);
    curl_multi_add_handle(multi, one->easy);
}

static bool prepare(transfer *one) {
    one->easy = curl_easy_init();
    if (one->easy == NULL) return false;
    curl_easy_setopt(one->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(one->easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(one->easy, CURLOPT_BUFFERSIZE, 64L * 1024);
    curl_easy_setopt(one->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(one->easy, CURLOPT_WRITEDATA, one);
    curl_easy_setopt(one->easy, CURLOPT_PRIVATE, one);
    return true;
}

static int run(CURLM *multi, transfer *all, const bench_requests *job) {
    int begun = 0;
    int ended = 0;
    int good = 0;
    while (begun < job->at_once && begun < job->count) {
        if (!prepare(&all[begun])) return 0;
        start(multi, &all[begun], job, begun);
        begun++;
    }
    while (ended < begun) {
        int running = 0;
        curl_multi_perform(multi, &running);
        int left = 0;
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            if (message->msg != CURLMSG_DONE) continue;
            transfer *one = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&one);
            good += message->data.result == CURLE_OK && one->count == job->size;
            ended++;
            curl_multi_remove_handle(multi, one->easy);
            if (begun < job->count) start(multi, one, job, begun++);
        }
        if (ended < begun) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    return good;
}

int bench_request_all(const bench_requests *job) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    transfer *all = calloc((size_t)job->at_once, sizeof(transfer));
    int good = 0;
    if (multi != NULL && all != NULL) {
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)job->at_once);
        good = run(multi, all, job);
        for (int i = 0; i < job->at_once; i++) {
            if (all[i].easy != NULL) curl_easy_cleanup(all[i].easy);
            free(all[i].bytes);
        }
    }
    free(all);
    if (multi != NULL) curl_multi_cleanup(multi);
    curl_global_cleanup();
    return good;
}
