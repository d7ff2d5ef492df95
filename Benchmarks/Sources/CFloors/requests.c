#include <stdio.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "body.h"
#include "floors.h"

typedef struct {
    CURL *easy;
    body into;
} transfer;

static void start(CURLM *multi, transfer *one, const bench_requests *job, int index) {
    char url[256];
    one->into.count = 0;
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
    curl_easy_setopt(one->easy, CURLOPT_WRITEFUNCTION, body_receive);
    curl_easy_setopt(one->easy, CURLOPT_WRITEDATA, &one->into);
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
            good += message->data.result == CURLE_OK && one->into.count == job->size;
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
            free(all[i].into.bytes);
        }
    }
    free(all);
    if (multi != NULL) curl_multi_cleanup(multi);
    curl_global_cleanup();
    return good;
}
