import Foundation
import Halcyon
import HalcyonTesting
import Testing

@testable import HalcyonServer

/// URLs without a signature, on servers that speak several languages: each gets the picture that it asks for in its own one.
@Suite struct GrammarOrderTests {
    /// A URL of each kind that a language has for a picture within 24 x 24.
    private static func paths(_ source: String) -> [ServerConfiguration.Grammar: [String]] {
        let encoded = source.replacing(":", with: "%3A").replacing("/", with: "%2F")
        let base64 = Data(source.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        let signature = String(repeating: "A", count: 27) + "="
        let bare = source.replacing("http://", with: "")
        return [
            .plain: [
                "/fit-24x24/\(source)", "/fit-24x24,_/\(source.replacing("//", with: "/"))", "/fit-24x24/\(encoded)",
                "/s-any/fit-24x24/\(source)",
            ],
            .imgproxy: [
                "/_/rs:fit:24:24/plain/\(source)", "/unsafe/rs:fit:24:24/plain/\(source)",
                "/unsafe/w:80/h:80/rs:fit:24:24/plain/\(encoded)", "/insecure/rs:fit:24:24/\(base64)",
                "/unsafe/rs:fit:24:24/\(base64)", "/fit-48x48/rs:fit:24:24/plain/\(source)",
                "/\(signature)/rs:fit:24:24/plain/\(source)",
            ],
            .thumbor: [
                "/unsafe/fit-in/24x24/\(source)", "/unsafe/fit-in/24x24/\(bare)",
                "/\(signature)/fit-in/24x24/\(source)",
                "/unsafe/fit-in/24x24/\(encoded)", "/unsafe/fit-in/24x24/filters:quality(50)/\(bare)",
            ],
        ]
    }

    @Test(arguments: [
        [ServerConfiguration.Grammar.imgproxy, .plain, .thumbor], [.imgproxy, .thumbor, .plain],
        [.plain, .imgproxy, .thumbor], [.plain, .thumbor], [.thumbor, .plain], [.plain, .imgproxy],
    ])
    func eachURLIsReadInItsOwnLanguage(order: [ServerConfiguration.Grammar]) async throws {
        try await ServerFixture.run {
            $0.url.grammars = order
        } _: { server async throws in
            let paths = Self.paths(try server.serve("jpeg/baseline-420.jpg"))
            for grammar in order {
                for path in paths[grammar] ?? [] {
                    let answer = try await server.get(path)
                    #expect(answer.status == 200, "\(path): \(answer.code ?? "")")
                    if answer.status == 200 { #expect(try answer.image().width == 24, "\(path)") }
                }
            }
        }
    }

    /// A language that is not spoken takes no part: its URLs are no other one's.
    @Test func theURLOfALanguageThatIsNotSpokenIsNone() async throws {
        try await ServerFixture.run {
            $0.url.grammars = [.thumbor]
        } _: { server async throws in
            let paths = Self.paths(try server.serve("jpeg/baseline-420.jpg"))
            for path in paths[.plain] ?? [] { #expect(try await server.get(path).status == 404, "\(path)") }
            #expect(server.transport.requestCount == 0)
        }
        try await ServerFixture.run {
            $0.url.grammars = [.plain]
        } _: { server async throws in
            let paths = Self.paths(try server.serve("jpeg/baseline-420.jpg"))
            for path in (paths[.thumbor] ?? []) + (paths[.imgproxy] ?? []) {
                #expect([403, 404, 422].contains(try await server.get(path).status), "\(path)")
            }
            #expect(server.transport.requestCount == 0)
        }
    }

    /// The failure that is told is that of the language that the URL is written in.
    @Test func failuresAreThoseOfTheURLsOwnLanguage() async throws {
        try await ServerFixture.run {
            $0.url.grammars = [.plain, .thumbor]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            for (path, name) in [
                ("/unsafe/filters:nonsense()/\(source)", "filters:nonsense"), ("/nonsense/\(source)", "nonsense"),
            ] {
                let answer = try await server.get(path)
                #expect(answer.status == 422)
                #expect(String(decoding: answer.body, as: UTF8.self).contains("'\(name)'"), "\(path)")
            }
        }
    }
}
