import Foundation
import Testing

@testable import HalcyonServer

@Suite struct ServerConfigurationTests {
    private func file(_ text: String, _ kind: String = "json") throws -> String {
        let url = FileManager.default.temporaryDirectory.appending(path: "halcyon-\(UUID().uuidString).\(kind)")
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }

    private func read(_ environment: [String: String] = [:], _ text: String? = nil) async throws -> ServerConfiguration
    {
        try await ServerConfiguration(environment: environment, file: text.map { try file($0) })
    }

    @Test func theDefaultsAreSafe() async throws {
        let configuration = try await read(["PATH": "/bin", "HALCYON_DECODE_WORKER": "/x"])
        #expect(configuration.http.host == "127.0.0.1")
        #expect(configuration.http == ServerConfiguration().http)
        #expect(!configuration.source.allowsPrivateAddresses)
        #expect(configuration.isolatesDecodes)
        #expect(configuration.source.folder == nil)
    }

    @Test func theEnvironmentCountsBeforeTheFile() async throws {
        let text = """
            {"http": {"port": 1234, "idleTimeout": 2.5}, "answer": {"formats": ["avif", "webp", "avif"], "quality": 70},
            "source": {"allow": ["https://a.example/"], "allowPrivateAddresses": true}, "isolation": false,
            "log": {"level": "debug"}}
            """
        let configuration = try await read(
            ["HALCYON_HTTP_PORT": "4321", "HALCYON_SOURCE_PASS_HEADERS": "Cookie,X-User"], text)
        #expect(configuration.http.port == 4321)
        #expect(configuration.http.idleTimeout == .seconds(2.5))
        #expect(configuration.answer.formats == [.avif, .webp])
        #expect(configuration.answer.quality == 70)
        #expect(configuration.source.allow == ["https://a.example/"])
        #expect(configuration.source.allowsPrivateAddresses)
        #expect(configuration.source.passHeaders == ["Cookie", "X-User"])
        #expect(!configuration.isolatesDecodes)
        #expect(configuration.logLevel == .debug)
    }

    @Test(arguments: ["yaml", "yml", "YAML"]) func theFileMayBeYAML(kind: String) async throws {
        let json = """
            {"http": {"port": 1234, "idleTimeout": 2.5}, "answer": {"formats": ["avif", "webp"], "ttl": 60},
            "source": {"allow": ["https://a.example/"], "allowPrivateAddresses": true}, "isolation": false,
            "cache": {"folder": "", "redis": "redis://a.example:6379"}, "url": {"presets": ["small=w:10/h:20"]}}
            """
        let yaml = """
            # The settings of a server.
            http: {port: 1234, idleTimeout: 2.5}
            answer:
              formats: [avif, webp]
              ttl: &minute 60
            source:
              allow:
                - https://a.example/
              allowPrivateAddresses: yes
            isolation: false
            cache:
              folder: ""
              redis: redis://a.example:6379
            url:
              presets: ["small=w:10/h:20"]
            """
        let configuration = try await ServerConfiguration(environment: [:], file: file(yaml, kind))
        let (wanted, usual) = (try await read([:], json), try await read())
        #expect(configuration.http == wanted.http && configuration.http != usual.http)
        #expect(configuration.answer == wanted.answer && configuration.answer != usual.answer)
        #expect(configuration.source == wanted.source && configuration.source != usual.source)
        #expect(configuration.cache == wanted.cache && configuration.cache != usual.cache)
        #expect(configuration.url == wanted.url && configuration.url != usual.url)
        #expect(!configuration.isolatesDecodes)
        let path = try file(yaml, kind)
        let changed = try await ServerConfiguration(environment: ["HALCYON_CONFIG": path, "HALCYON_ANSWER_TTL": "7"])
        #expect(changed.answer.ttl == 7 && changed.http.port == 1234)
    }

    @Test(arguments: [
        ("http: {prot: 1}", ServerConfigurationError.unknownKey("http.prot")), ("http: 1", .unknownKey("http")),
        ("http: {port: {a: 1}}", .unknownKey("http.port.a")), ("<<: {port: 1}", .unknownKey("<<.port")),
        ("http: {port: 70000}", .badValue(key: "http.port", reason: "it is from 0 to 65535")),
        ("http: {port: many}", .badValue(key: "http.port", reason: "it is no whole number")),
        ("http: {port: [1]}", .badValue(key: "http.port", reason: "it is no whole number")),
        ("answer: {formats: avif}", .badValue(key: "answer.formats", reason: "it is no list of texts")),
        ("cache: {folder: null}", .badValue(key: "cache.folder", reason: "it has no value")),
        ("cache: {folder: }", .badValue(key: "cache.folder", reason: "it has no value")),
        ("isolation: perhaps", .badValue(key: "isolation", reason: "it is no true or false")),
    ])
    func aBadSettingInYAMLIsAnErrorWithItsKey(text: String, error: ServerConfigurationError) async throws {
        let path = try file(text, "yaml")
        await #expect(throws: error) { try await ServerConfiguration(environment: [:], file: path) }
    }

    @Test(arguments: ["- a", "a", "", "http: [", "a: 1\na: 2", "{a: 1}\n---\n{a: 1}", "\t- :", "? [a]\n: 1"])
    func aFileThatIsNoMappingOfYAMLIsAnError(text: String) async throws {
        let path = try file(text, "yaml")
        do {
            _ = try await ServerConfiguration(environment: [:], file: path)
            Issue.record("\(text) was taken")
        } catch ServerConfigurationError.badFile(let named, _) {
            #expect(named == path)
        }
    }

    @Test func theFileMayBeNamedByTheEnvironment() async throws {
        let path = try file("{\"answer\": {\"ttl\": 60}}")
        let configuration = try await ServerConfiguration(environment: ["HALCYON_CONFIG": path])
        #expect(configuration.answer.ttl == 60)
    }

    @Test func anEmptyFolderIsNone() async throws {
        #expect(try await read(["HALCYON_CACHE_FOLDER": ""]).cache.folder == nil)
    }

    @Test(arguments: [
        ("HALCYON_HTTP_PORT", "70000", "http.port"), ("HALCYON_HTTP_PORT", "many", "http.port"),
        ("HALCYON_ANSWER_QUALITY", "0", "answer.quality"), ("HALCYON_ANSWER_FORMATS", "webp,gif", "answer.formats"),
        ("HALCYON_LOG_LEVEL", "loud", "log.level"), ("HALCYON_ISOLATION", "perhaps", "isolation"),
        ("HALCYON_QUEUE_WAITING_TIME", "-1", "queue.waitingTime"),
        ("HALCYON_QUEUE_WAITING_TIME", "nan", "queue.waitingTime"),
        ("HALCYON_QUEUE_BURST_TIME", "-1", "queue.burstTime"),
        ("HALCYON_SIGNATURE_KEYS", "00", "signature.salts"),
        ("HALCYON_ANSWER_FALLBACK_STATUS", "99", "answer.fallbackStatus"),
    ])
    func aBadValueIsAnErrorWithItsKey(variable: String, value: String, key: String) async {
        do {
            _ = try await read([variable: value])
            Issue.record("\(variable)=\(value) was taken")
        } catch ServerConfigurationError.badValue(let named, _) {
            #expect(named == key)
        } catch {
            Issue.record("\(error)")
        }
    }

    /// Settings that a program makes are looked at as those of a file are.
    @Test func settingsThatDoNotFitTogetherAreErrors() throws {
        func expect(_ key: String, _ change: (inout ServerConfiguration) -> Void) {
            var configuration = ServerConfiguration()
            configuration.cache.folder = nil
            change(&configuration)
            do {
                _ = try ServerApplication(configuration)
                Issue.record("\(key) was taken")
            } catch ServerConfigurationError.badValue(let named, _) {
                #expect(named == key)
            } catch {
                Issue.record("\(error)")
            }
        }
        expect("signature.salts") { $0.signature.keys = ["00"] }
        expect("signature.salts") { $0.signature.salts = ["00"] }
        expect("url.onlyPresets") { $0.url.onlyPresets = true }
        expect("url.onlyPresets") { ($0.url.onlyPresets, $0.url.grammars) = (true, [.imgproxy, .thumbor]) }
        expect("url.grammars") { $0.url.grammars = [.thumbor, .imgproxy] }
        expect("url.grammars") { $0.url.grammars = [.plain, .thumbor, .imgproxy] }
        expect("url.grammars") { ($0.url.grammars, $0.source.baseURL) = ([.plain, .imgproxy], "http://a.test/") }
        var configuration = ServerConfiguration()
        (configuration.cache.folder, configuration.url.onlyPresets) = (nil, true)
        configuration.url.grammars = [.imgproxy]
        #expect(try ServerApplication(configuration).grammars.count == 1)
    }

    @Test func unknownKeysAreErrors() async {
        await #expect(throws: ServerConfigurationError.unknownKey("HALCYON_HTTP_PROT")) {
            try await read(["HALCYON_HTTP_PROT": "1"])
        }
        await #expect(throws: ServerConfigurationError.unknownKey("http.prot")) {
            try await read([:], "{\"http\": {\"prot\": 1}}")
        }
        await #expect(throws: ServerConfigurationError.unknownKey("http")) { try await read([:], "{\"http\": 1}") }
    }

    @Test func aValueOfAnotherTypeInTheFileIsAnError() async {
        do {
            _ = try await read([:], "{\"http\": {\"port\": \"80\"}}")
            Issue.record("a text was taken for a number")
        } catch {
            #expect("\(error)".hasPrefix("http.port: "))
        }
    }

    @Test func aFileThatIsNoObjectIsAnError() async throws {
        for text in ["[]", "{", ""] {
            let path = try file(text)
            do {
                _ = try await ServerConfiguration(environment: [:], file: path)
                Issue.record("\(text) was taken")
            } catch ServerConfigurationError.badFile(let named, _) {
                #expect(named == path)
            }
        }
    }

    /// Each key is spelled in the environment as it is documented.
    @Test func theNamesOfVariables() {
        #expect(SettingsReader.variable("http.idleTimeout") == "HALCYON_HTTP_IDLE_TIMEOUT")
        #expect(SettingsReader.variable("isolation") == "HALCYON_ISOLATION")
        #expect(Set(ServerConfiguration.keys.map(SettingsReader.variable)).count == ServerConfiguration.keys.count)
    }
}
