#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "body.h"
#include "floors.h"

typedef struct {
    const bench_fetch *job;
    bench_bitmap *results;
    atomic_int next;
} state;

/// To a temporary name that is renamed, as a program does that others may read behind.
static void keep(const body *from, const char *folder, int index) {
    char path[1024];
    char final[1024];
    snprintf(path, sizeof path, "%s/%d.part", folder, index);
    snprintf(final, sizeof final, "%s/%d.jpg", folder, index);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file == -1) return;
    ssize_t written = write(file, from->bytes, from->count);
    close(file);
    if (written == (ssize_t)from->count) rename(path, final);
}

static void fetch_one(CURL *easy, state *all, int index, body *into) {
    char url[256];
    into->count = 0;
    snprintf(url, sizeof url, "%s%d.jpg", all->job->base_url, index);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    if (curl_easy_perform(easy) != CURLE_OK) return;
    bench_decode_jpeg(into->bytes, into->count, all->job->eighths, &all->results[index]);
    if (all->job->folder != NULL) keep(into, all->job->folder, index);
}

static void *work(void *argument) {
    state *all = argument;
    CURL *easy = curl_easy_init();
    if (easy == NULL) return NULL;
    body into = {0};
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 64L * 1024);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &into);
    int index;
    while ((index = atomic_fetch_add(&all->next, 1)) < all->job->count) fetch_one(easy, all, index, &into);
    curl_easy_cleanup(easy);
    free(into.bytes);
    return NULL;
}

int bench_fetch_thumbnails(const bench_fetch *job, int width, int height) {
    // Counted by libcurl; without it the first handles of several threads would race to make it ready.
    curl_global_init(CURL_GLOBAL_DEFAULT);
    state all = {.job = job, .results = calloc((size_t)job->count, sizeof(bench_bitmap))};
    pthread_t *threads = calloc((size_t)job->threads, sizeof(pthread_t));
    int good = 0;
    if (all.results != NULL && threads != NULL) {
        int started = 0;
        while (started < job->threads && pthread_create(&threads[started], NULL, work, &all) == 0) started++;
        for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < job->count; i++) {
            good += all.results[i].pixels != NULL && all.results[i].width == width && all.results[i].height == height;
            bench_free_bitmap(&all.results[i]);
        }
    }
    free(threads);
    free(all.results);
    curl_global_cleanup();
    return good;
}
