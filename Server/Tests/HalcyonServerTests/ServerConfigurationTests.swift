import Foundation
import Testing

@testable import HalcyonServer

@Suite struct ServerConfigurationTests {
    private func file(_ text: String) throws -> String {
        let url = FileManager.default.temporaryDirectory.appending(path: "halcyon-\(UUID().uuidString).json")
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }

    private func read(_ environment: [String: String] = [:], _ text: String? = nil) async throws -> ServerConfiguration
    {
        try await ServerConfiguration(environment: environment, file: text.map(file))
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
