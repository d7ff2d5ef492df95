import Foundation
import ImageURLs
import Testing

/// Paths that nobody writes: each of them is a job within the bounds, or an error with a status.
@Suite struct RandomPathTests {
    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    private let seeds = [
        "/_/rs:fill:300:400:0:1:no:1:2/g:fp:0.5:0.5/c:0.5:100:soea:1:1/t:10:ff00ff:1:1/pd:1:2:3:4/plain/http://example.com/a.jpg@png",
        "/_/pr:a:b/wm:0.5:re:1:1:0.2/bg:1:2:3/fq:jpg:1:png:2/skp:gif/exp:1/fn:YQ:1/aHR0cDovL2V4YW1w/bGUuY29tL2E.webp",
        "/_/z:1:2/dpr:2/rot:90/fl:1:1/bl:1/sh:1/pix:2/q:1/mb:1/f:png/raw:0/cb:x/att:1/msr:1/plain/local:/a%20b",
        "/unsafe/trim:bottom-right:4/1x2:3x4/adaptive-full-fit-in/-300x-orig/left/top/smart/filters:blur(1,2):fill(red,1)/a.org/b",
        "/unsafe/1x1/filters:watermark('a,b',-1p,repeat,5,1,none):round_corner(1|2,3,4,5):focal(1x1:2x2):rgb(1,-1,2)/http://a/b",
        "/s-abc/fit-320x240,webp,q80,dpr2,focus-0.1-1,bg-f80,blur-2,expires-9/https://example.org/a.jpg?b=c",
        "/fill-down-x1,top-left,rotate-90,trim-3,v-a,original/https%3A%2F%2Fexample.org%2Fa.jpg",
    ]
    private let pieces = [
        "/", ":", "@", ".", ",", "-", "(", ")", "):", ")/", "%", "%3A", "%2F", "%00", "%zz", "%C3%A4", "ä", "/\u{301}",
        ":\u{301}",
        "\u{0}", "\n", " ", "'", "|", "x", "\\", "plain", "/plain/", "filters:", "99999999999999999999", "-1", "0",
        "1e309",
        "nan", "inf", "0.5", "\u{10FFFF}", "𝟙", "=", "?", "#", "https:/", "w:1/", "pr:a", "smart/", "s-", "enc/",
        "\u{FEFF}",
    ]

    private func grammars() throws -> [any ImageURLGrammar] {
        let keys = try URLKeys.imgproxy([], policy: .unsignedWithoutKeys)
        var configuration = ImgproxyURL.Configuration()
        configuration.allowsLimits = true
        configuration.presets = try ImgproxyPresets(["a=w:10/pr:b", "b=q:5"])
        return [
            ImgproxyURL(keys: keys, configuration: configuration), PlainURL(keys: keys),
            ThumborURL(keys: try .thumbor([], policy: .unsafeAllowed)),
        ]
    }

    private func mutated(using generator: inout Generator) -> String {
        var text = Array((seeds.randomElement(using: &generator) ?? "/").unicodeScalars)
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            let place = Int.random(in: 0...text.count, using: &generator)
            let end = min(text.count, place + Int.random(in: 0...8, using: &generator))
            switch Int.random(in: 0...4, using: &generator) {
            case 0: text.removeSubrange(place..<end)
            case 1: text.insert(contentsOf: text[place..<end], at: place)
            case 2: text.insert(contentsOf: (pieces.randomElement(using: &generator) ?? "").unicodeScalars, at: place)
            case 3:
                let other = Array((seeds.randomElement(using: &generator) ?? "").unicodeScalars)
                text.replaceSubrange(place..<end, with: other[(other.count / 3)...])
            default:
                let byte = UInt8.random(in: 0...255, using: &generator)
                text.insert(Unicode.Scalar(byte), at: place)
            }
        }
        return String(String.UnicodeScalarView(text))
    }

    private func check(_ path: String, by grammar: any ImageURLGrammar, rules: SourceRules) throws {
        switch Result(catching: { try grammar.job(at: path) }) {
        case .success(let job):
            #expect(try grammar.job(at: path) == job)
            #expect(job.canonicalText.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            let finished = job.applying(dpr: 2, width: 700)
            let dpr = finished.resize.dpr ?? 0
            #expect(dpr > 0 && dpr <= ImageJob.Bounds.dpr)
            for side in [finished.resize.width, finished.resize.height] {
                if case .pixels(let count) = side { #expect((1...ImageJob.Bounds.side).contains(count)) }
                #expect(side != .unset)
            }
            #expect(finished.applying(dpr: 3, width: 9) == finished)
            for source in job.sources {
                #expect(!source.isEmpty && source.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(path)")
                guard let url = try? rules.check(source) else { continue }
                #expect(url.scheme == "http" || url.scheme == "https")
                #expect(try SourceURL(url.description) == url)
                let other = URLComponents(string: url.description)
                #expect(other?.host == url.host || url.host.hasPrefix("["), "\(url)")
                #expect(other?.user == nil && other?.port == url.port, "\(url)")
                // Foundation encodes brackets in a path.
                let isSame = other?.percentEncodedPath == url.path
                #expect(isSame || url.path.contains { "[]".contains($0) }, "\(url)")
            }
        case .failure(let error as ImageURLError):
            #expect([403, 404, 414, 422].contains(error.status))
            #expect(error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) })
            #expect(error.description.utf8.count < 400)
        case .failure(let error): Issue.record("\(path): \(error)")
        }
    }

    @Test func mutatedPaths() throws {
        var generator = Generator(state: 27)
        let grammars = try grammars()
        let rules = try SourceRules()
        for _ in 0..<10_000 {
            let path = mutated(using: &generator)
            for grammar in grammars { try check(path, by: grammar, rules: rules) }
        }
    }

    @Test func randomBytes() throws {
        var generator = Generator(state: 28)
        let grammars = try grammars()
        let rules = try SourceRules()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let path = "/_/" + String(decoding: bytes, as: UTF8.self)
            for grammar in grammars { try check(path, by: grammar, rules: rules) }
        }
    }

    /// Texts of the greatest length that make a parser look again and again.
    @Test func longPaths() throws {
        let grammars = try grammars()
        let rules = try SourceRules(allowed: ["https://*a*a*a*a*a*b/*a*a*a*a*b/"])
        for piece in pieces + ["):a(", "a,", "'", "trim:", "w:1:", "w:1/", "a@", "pr:a:", "_,", "aa/", "%2e", "../"]
        where !piece.isEmpty {
            for start in ["/_/", "/unsafe/filters:", "/unsafe/filters:fill(", "/_/w:", "/_/plain/https://a/", "/"] {
                let path = start + String(repeating: piece, count: max(0, 8192 - start.utf8.count) / piece.utf8.count)
                for grammar in grammars { try check(path, by: grammar, rules: rules) }
            }
        }
        let long = "https://" + String(repeating: "a", count: 60) + ".org/" + String(repeating: "a", count: 8000)
        #expect(failure { try rules.check(long) } == .source(.notAllowed))
    }
}
