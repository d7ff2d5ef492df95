void halcyon_curl_placeholder(void);
