void halcyon_codecs_placeholder(void);
