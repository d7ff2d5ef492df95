import Glibc

/// Whether a sanitizer instruments this process, and takes memory of its own.
public enum Sanitizer {
    public static let isOn = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
