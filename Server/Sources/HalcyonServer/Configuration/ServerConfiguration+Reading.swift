extension ServerConfiguration {
    /// Reads a configuration: variables of the environment count before a file, and both before the defaults.
    ///
    /// - Parameters:
    ///   - environment: the environment of the program.
    ///   - file: the path of a file of JSON or YAML (`.yaml`, `.yml`) whose objects are the groups of settings; by default the one that `HALCYON_CONFIG` names,
    ///     else none.
    /// - Throws: `ServerConfigurationError`, also for a key that no setting has.
    public init(environment: [String: String], file: String? = nil) async throws {
        self.init()
        let file = file ?? environment["HALCYON_CONFIG"]
        let reader = try await SettingsReader(environment: environment, file: file, keys: Self.keys + Self.s3Keys)
        try readSockets(reader)
        try readSources(reader)
        try readS3(reader, environment: environment)
        try readAnswers(reader)
        try readLimits(reader)
    }

    /// The keys of all settings.
    static let keys = [
        "http.host", "http.port", "http.maximumConnections", "http.idleTimeout", "http.writeTimeout",
        "http.shutdownTimeout", "metrics.enabled", "metrics.host", "metrics.port", "source.allow", "source.baseUrl",
        "source.folder", "source.allowPrivateAddresses", "source.timeout", "source.maximumBytes",
        "source.maximumPixels", "source.maximumFrames", "source.maximumAnimationPixels", "source.passHeaders",
        "url.grammars", "url.presets", "url.onlyPresets", "url.separator",
        "url.allowedOptions", "url.allowLimits", "url.sourceIncludesFilename",
        "signature.keys", "signature.salts", "signature.size", "signature.trusted",
        "signature.thumborKeys", "answer.formats",
        "answer.maximumAvifPixels", "answer.quality", "answer.sharpening", "answer.ttl", "answer.lastModified",
        "answer.clientHints",
        "answer.fallback", "answer.watermark", "answer.fallbackStatus", "answer.fallbackTtl", "answer.maximumSide",
        "answer.maximumPixels", "answer.maximumAnimationPixels",
        "cache.folder", "cache.diskBytes", "cache.memoryBytes", "cache.redis", "cache.redisPrefix",
        "cache.redisTimeout",
        "queue.transfers", "queue.pixels", "queue.waiting",
        "queue.waitingPixels", "queue.waitingTime", "queue.burstTime", "isolation", "log.level",
    ]

    private mutating func readSockets(_ reader: SettingsReader) throws {
        try reader.set("http.host", &http.host)
        try reader.set("http.port", &http.port, in: 0...65_535)
        try reader.set("http.maximumConnections", &http.maximumConnections, in: 1...1_000_000)
        try reader.set("http.idleTimeout", &http.idleTimeout, in: 0.1...3600)
        try reader.set("http.writeTimeout", &http.writeTimeout, in: 0.1...3600)
        try reader.set("http.shutdownTimeout", &http.shutdownTimeout, in: 0...3600)
        try reader.set("metrics.enabled", &metrics.isEnabled)
        try reader.set("metrics.host", &metrics.host)
        try reader.set("metrics.port", &metrics.port, in: 0...65_535)
        try reader.set("log.level", &logLevel)
    }

    private mutating func readSources(_ reader: SettingsReader) throws {
        try reader.set("source.allow", &source.allow)
        try reader.set("source.baseUrl", &source.baseURL)
        try reader.set("source.folder", &source.folder)
        try reader.set("source.allowPrivateAddresses", &source.allowsPrivateAddresses)
        try reader.set("source.timeout", &source.timeout, in: 0.1...3600)
        try reader.set("source.maximumBytes", &source.maximumBytes, in: 1...(1 << 40))
        try reader.set("source.maximumPixels", &source.maximumPixels, in: 1...(1 << 40))
        try reader.set("source.maximumFrames", &source.maximumFrames, in: 1...100_000)
        try reader.set("source.maximumAnimationPixels", &source.maximumAnimationPixels, in: 1...(1 << 40))
        try reader.set("source.passHeaders", &source.passHeaders)
        try reader.set("url.grammars", &url.grammars)
        try reader.set("url.presets", &url.presets)
        try reader.set("url.onlyPresets", &url.onlyPresets)
        try reader.set("url.separator", &url.separator)
        guard url.separator.count == 1, url.separator != "/" else {
            throw ServerConfigurationError.badValue(key: "url.separator", reason: "it is one character, and no slash")
        }
        try reader.set("url.allowedOptions", &url.allowedOptions)
        try reader.set("url.allowLimits", &url.allowsLimits)
        try reader.set("url.sourceIncludesFilename", &url.sourceIncludesFilename)
        try reader.set("signature.keys", &signature.keys)
        try reader.set("signature.salts", &signature.salts)
        try reader.set("signature.size", &signature.size, in: 1...32)
        try reader.set("signature.trusted", &signature.trusted)
        try reader.set("signature.thumborKeys", &signature.thumborKeys)
        guard signature.keys.count == signature.salts.count else {
            throw ServerConfigurationError.badValue(key: "signature.salts", reason: "there is one for each key")
        }
    }

    private mutating func readAnswers(_ reader: SettingsReader) throws {
        try reader.set("answer.formats", &answer.formats)
        try reader.set("answer.maximumAvifPixels", &answer.maximumAVIFPixels, in: 0...(1 << 40))
        try reader.set("answer.quality", &answer.quality, in: 1...100)
        try reader.set("answer.sharpening", &answer.sharpening, in: 0...500)
        try reader.set("answer.ttl", &answer.ttl, in: 0...315_360_000)
        try reader.set("answer.lastModified", &answer.sendsLastModified)
        try reader.set("answer.clientHints", &answer.usesClientHints)
        try reader.set("answer.fallback", &answer.fallback)
        try reader.set("answer.watermark", &answer.watermark)
        try reader.set("answer.fallbackStatus", &answer.fallbackStatus, in: 0...599)
        guard answer.fallbackStatus == 0 || answer.fallbackStatus >= 200 else {
            throw ServerConfigurationError.badValue(key: "answer.fallbackStatus", reason: "it is 0, or from 200 to 599")
        }
        try reader.set("answer.fallbackTtl", &answer.fallbackTTL, in: 0...315_360_000)
        try reader.set("answer.maximumSide", &answer.maximumSide, in: 1...65_535)
        try reader.set("answer.maximumPixels", &answer.maximumPixels, in: 1...(1 << 40))
        try reader.set("answer.maximumAnimationPixels", &answer.maximumAnimationPixels, in: 1...(1 << 40))
    }

    private mutating func readLimits(_ reader: SettingsReader) throws {
        try reader.set("cache.folder", &cache.folder)
        try reader.set("cache.diskBytes", &cache.diskBytes, in: 1...(1 << 50))
        try reader.set("cache.memoryBytes", &cache.memoryBytes, in: 0...(1 << 50))
        try reader.set("cache.redis", &cache.redis)
        try reader.set("cache.redisPrefix", &cache.redisPrefix)
        try reader.set("cache.redisTimeout", &cache.redisTimeout, in: 0.001...60)
        _ = try cache.redisConfiguration()
        try reader.set("queue.transfers", &queue.transfers, in: 1...10_000)
        try reader.set("queue.pixels", &queue.pixels, in: 1...(1 << 40))
        try reader.set("queue.waiting", &queue.waiting, in: 0...1_000_000)
        try reader.set("queue.waitingPixels", &queue.waitingPixels, in: 1...(1 << 50))
        try reader.set("queue.waitingTime", &queue.waitingTime, in: 0.01...3600)
        try reader.set("queue.burstTime", &queue.burstTime, in: 0...3600)
        try reader.set("isolation", &isolatesDecodes)
    }
}
