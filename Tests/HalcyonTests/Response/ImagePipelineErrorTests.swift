import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonNetwork
import TestSupport
import Testing

/// The errors of a pipeline as values.
@Suite struct ImagePipelineErrorTests {
    private struct Mine: Error {}

    /// Every case, with its name in docs/Errors.md.
    static let all: [(name: String, error: ImagePipelineError)] = {
        let offline = DownloadError(.offline, url: URL(web: "http://images.test/a"))
        let damaged = CodecError.damaged(.png, reason: "it was cut off")
        let missing = ImagePipelineError.notInCache(source: "a")
        return [
            ("invalidRequest", .invalidRequest(source: "a", reason: "it has no host")),
            ("badSource", .badSource(source: "a", reason: "there is no such file")),
            ("download", .download(source: "a", offline)), ("decoding", .decoding(source: "a", damaged)),
            ("processing", .processing(source: "a", Mine())), ("intercepted", .intercepted(source: "a", Mine())),
            ("encoding", .encoding(source: "a", .encodingFailed(.jpeg, reason: "it is too wide"))),
            ("notInCache", missing), ("allSourcesFailed", .allSourcesFailed(source: "a", [missing, missing])),
            ("remembered", .remembered(.download(source: "a", offline))),
        ]
    }()

    @Test func stagesAndCodes() {
        let expected: [String: (ImagePipelineError.Stage, String)] = [
            "invalidRequest": (.request, "invalidRequest"), "badSource": (.source, "badSource"),
            "download": (.network, "offline"), "decoding": (.decoding, "damagedImage"),
            "processing": (.processing, "processing"), "intercepted": (.interceptor, "intercepted"),
            "encoding": (.encoding, "encoding"), "notInCache": (.cache, "notInCache"),
            "allSourcesFailed": (.cache, "allSourcesFailed"), "remembered": (.network, "offline"),
        ]
        for (name, error) in Self.all {
            #expect(error.stage == expected[name]?.0, "\(name)")
            #expect(error.code == expected[name]?.1, "\(name)")
        }
        #expect(Set(Self.all.map(\.error.stage)) == Set(ImagePipelineError.Stage.allCases))
        // Logs have these words.
        #expect(
            ImagePipelineError.Stage.allCases.map(\.rawValue) == [
                "request", "source", "cache", "network", "decoding", "processing", "encoding", "interceptor",
            ])
        #expect(ImagePipelineError.allSourcesFailed(source: "a", []).stage == .source)
    }

    @Test func whatIsBehindThem() {
        let behind = Self.all.map { ($0.name, $0.error.underlying.map { "\(type(of: $0))" }) }
        let expected = [
            "download": "DownloadError", "decoding": "CodecError", "processing": "Mine", "intercepted": "Mine",
            "encoding": "CodecError", "remembered": "DownloadError",
        ]
        for (name, type) in behind { #expect(type == expected[name], "\(name)") }
        let own = ImagePipelineError.badSource(source: "a", reason: "it is mine", underlying: Mine())
        #expect(own.underlying is Mine)
    }

    @Test func errorsSayOneThingEverywhere() {
        let errors: [any LocalizedError & CustomStringConvertible] =
            Self.all.map { $0.error } + [
                CodecError.notAnImage("empty"), BitmapError.outOfMemory(bytes: 3), AnimationError.noFrames,
                ProcessingError.failed(processor: "blur", reason: "it is too much"), BlurHashError.invalidBackground,
                DiskCacheError.tooLarge, DiskCacheError.foreignFolder("/tmp/a belongs to another user"),
                ImageCacheError.preview, ImagePrefetchError.notKept(source: "a"),
                DownloadError(.timeout(.idle), url: URL(web: "http://images.test/a")),
            ]
        for error in errors {
            #expect(error.errorDescription == error.description)
            #expect((error as any Error).localizedDescription == error.description)
            #expect(!error.description.isEmpty)
        }
    }

    @Test func suggestionsAreALineEach() {
        let errors: [any LocalizedError] = [
            ImagePipelineError.notInCache(source: "a"),
            ImagePipelineError.remembered(.decoding(source: "a", .notAnImage("x"))),
            ImagePipelineError.allSourcesFailed(source: "a", [.notInCache(source: "a")]),
            ImagePipelineError.download(source: "a", DownloadError(.offline, url: URL(web: "http://images.test/a"))),
            CodecError.unsupportedFormat(.heic, product: "HalcyonHEIC"), CodecError.unsupportedFormat(.ico),
            CodecError.loaderMissing(.icns),
            CodecError.unsupportedExtension("bin", encodable: [.png]), CodecError.damaged(.png, reason: "x"),
            CodecError.limitExceeded("pixels", value: 2, limit: 1), DiskCacheError.tooLarge,
            DiskCacheError.foreignFolder("/tmp/a"),
        ]
        for error in errors {
            let line = error.recoverySuggestion
            #expect(line?.hasSuffix(".") == true && line?.contains("\n") == false, "\(error)")
        }
        #expect(CodecError.notAnImage("x").recoverySuggestion == nil)
        #expect(ImagePipelineError.processing(source: "a", Mine()).recoverySuggestion == nil)
        let missing = ImagePipelineError.decoding(source: "a", .unsupportedFormat(.heic, product: "HalcyonHEIC"))
        #expect(missing.recoverySuggestion == "Link the product HalcyonHEIC of the package halcyon.")
        #expect(missing.description == "a: no coder for heic: link the product HalcyonHEIC of the package halcyon")
    }

    @Test func errorsOfCodersAreComparedByTypeAndText() {
        struct Other: Error {}
        let one = CodecError.failed(.png, Mine())
        #expect(one == .failed(.png, Mine()) && one.hashValue == CodecError.failed(.png, Mine()).hashValue)
        #expect(one != .failed(.png, Other()) && one != .failed(.jpeg, Mine()))
        let different: Set<CodecError> = [
            one, .notAnImage("x"), .notAnImage("y"), .unsupportedFormat(.png), .unsupportedFormat(.png, product: "x"),
            .unsupportedFormat(.jpeg), .loaderMissing(.png), .loaderMissing(.jpeg),
            .unsupportedExtension("x", encodable: []),
            .unsupportedExtension("y", encodable: []), .unsupportedExtension("x", encodable: [.png]),
            .unsupportedExtension("x", encodable: [], product: "x"), .damaged(.png, reason: "x"),
            .damaged(.png, reason: "y"), .damaged(.jpeg, reason: "x"), .encodingFailed(.png, reason: "x"),
            .limitExceeded("x", value: 2, limit: 1), .limitExceeded("x", value: 3, limit: 1),
            .limitExceeded("x", value: 2, limit: 2), .limitExceeded("y", value: 2, limit: 1),
        ]
        #expect(different.count == 20)
    }

    @Test func downloadsAreComparedWithoutWhatIsBehindThem() {
        let url = URL(web: "http://images.test/a")
        let own = DownloadError(.refused("a hook"), url: url, underlying: Mine())
        #expect(own == DownloadError(.refused("a hook"), url: url))
        #expect(own != DownloadError(.refused("another"), url: url, underlying: Mine()))
        #expect(own != DownloadError(.refused("a hook"), url: url, responseHeaders: ["A": "b"]))
        #expect(own != DownloadError(.refused("a hook"), url: URL(web: "http://images.test/b")))
    }
}
