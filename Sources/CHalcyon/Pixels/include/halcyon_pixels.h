void halcyon_pixels_placeholder(void);
