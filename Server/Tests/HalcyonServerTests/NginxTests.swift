import Foundation
import Halcyon
import ImageURLs
import RedisServing
import Testing

@testable import HalcyonServer

/// nginx before a fleet, as Server/deploy/nginx has it.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct NginxTests {
    private static let picture = "local:///kingfisher.jpg"

    @Test func theCacheAnswersAlsoWhenTheServersAreGone() async throws {
        let fleet = try await DeployedFleet(servers: 2)
        let path = "/_/rs:fit:40:40/plain/\(Self.picture)@png"
        let first = try await fleet.get(path, ["X-Request-Id": "first-1"])
        let second = try await fleet.get(path, ["X-Request-Id": "second/<2>"])
        #expect(first.status == 200 && second.status == 200)
        #expect([first["X-Cache"], second["X-Cache"]] == ["MISS", "HIT"])
        #expect(first.body == second.body)
        #expect(first["X-Request-Id"] == "first-1")
        // A name that is none is replaced, and a hit has its own.
        #expect(second["X-Request-Id"]?.count == 32)
        #expect(second.fields.count { $0.name.lowercased() == "x-request-id" } == 1)
        // Clients count the age from the time of the answer itself.
        #expect(first["Date"] != nil && first["Date"] == second["Date"])
        let tag = try #require(second["ETag"])
        #expect(try await fleet.get(path, ["If-None-Match": tag]).status == 304)
        let head = try await fleet.get(path, method: "HEAD")
        #expect(head.status == 200 && head["Content-Length"] == "\(first.body.count)")
        for number in 0..<2 { fleet.program(number).kill() }
        #expect(try await fleet.get(path).body == first.body)
        #expect(try await fleet.get("/_/rs:fit:41:41/plain/\(Self.picture)").status == 502)
    }

    @Test func wishesAreKeptApartAndTheirSpellingsAreNot() async throws {
        let fleet = try await DeployedFleet(servers: 2)
        func ask(_ accept: String?) async throws -> (type: String?, cache: String?) {
            let answer = try await fleet.get("/fit-48x48/\(Self.picture)", accept.map { ["Accept": $0] } ?? [:])
            #expect(answer.status == 200)
            #expect(answer["Vary"] == "Accept")
            return (answer["Content-Type"], answer["X-Cache"])
        }
        let rows: [(accept: String?, type: String, cache: String)] = [
            ("image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "image/avif", "MISS"),
            ("image/webp;q=0.3 , IMAGE/AVIF; q=0.9,*/*", "image/avif", "HIT"),
            ("image/webp,*/*", "image/webp", "MISS"), ("image/avif;q=0,image/webp,*/*", "image/webp", "HIT"),
            ("image/avif;q=0.000, */*, image/webp", "image/webp", "HIT"), (nil, "image/jpeg", "MISS"),
            ("*/*", "image/jpeg", "HIT"), ("image/*;q=0.5", "image/jpeg", "HIT"),
            ("image/avifs,ximage/webp,*/*", "image/jpeg", "HIT"), ("image/webp;q=0,*/*", "image/jpeg", "MISS"),
            ("text/html", "image/jpeg", "MISS"), ("image/jxl,image/avif,*/*", "image/jxl", "MISS"),
        ]
        for row in rows {
            let found = try await ask(row.accept)
            #expect(found == (row.type, row.cache), "\(row.accept ?? "none")")
        }
        for row in rows {
            let found = try await ask(row.accept)
            #expect(found == (row.type, "HIT"), "\(row.accept ?? "none")")
        }
    }

    @Test func anAnswerThatDiffersByMoreIsNotKept() async throws {
        let fleet = try await DeployedFleet(servers: 1, ["HALCYON_ANSWER_CLIENT_HINTS": "true"])
        for ratio in ["1", "2", "1"] {
            let answer = try await fleet.get("/_/rs:fit:20:20/plain/\(Self.picture)@png", ["Sec-CH-DPR": ratio])
            #expect(answer["X-Cache"] == "MISS")
            #expect(try answer.image().size.width == 20 * (try #require(Int(ratio))))
        }
    }

    @Test func aURLGoesToOneServer() async throws {
        let fleet = try await DeployedFleet(servers: 4)
        var servers: Set<String> = []
        for width in 10..<26 {
            let path = "/_/rs:fit:\(width):20/plain/\(Self.picture)"
            // Each wish is one more way past the cache.
            for accept in ["*/*", "image/webp", "image/webp;q=0,*/*"] {
                #expect(try await fleet.get(path, ["Accept": accept]).status == 200)
            }
            let found = Set(try await fleet.log(path, count: 3).compactMap { $0["upstream"] })
            #expect(found.count == 1)
            servers.formUnion(found)
        }
        #expect(servers.count > 1)
        #expect(servers.isSubset(of: fleet.serverPorts.map { "127.0.0.1:\($0)" }))
    }

    /// A server that is killed, and one that is told to stop, while requests come in.
    @Test func noRequestIsLostWithItsServer() async throws {
        let fleet = try await DeployedFleet(servers: 3)
        let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
            for client in 0..<4 {
                group.addTask {
                    var statuses: [Int] = []
                    for width in 0..<40 {
                        let path = "/_/rs:fit:\(20 + width):\(40 + client)/plain/\(Self.picture)"
                        statuses.append(try await fleet.get(path).status)
                    }
                    return statuses
                }
            }
            fleet.program(0).kill()
            try await fleet.restart(0)
            fleet.program(1).terminate()
            #expect(try await blocking { fleet.program(1).end().status } == 0)
            try await fleet.restart(1)
            fleet.program(2).kill()
            try await fleet.restart(2)
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(statuses == [Int](repeating: 200, count: 160))
    }

    private static let key = "736563726574", salt = "68656C6C6F"

    /// Paths have all that proxies like to change: double slashes, encoded ones, dots, colons, and queries.
    @Test func pathsReachTheServerAsTheyWereSigned() async throws {
        let fleet = try await DeployedFleet(
            servers: 2, ["HALCYON_SIGNATURE_KEYS": Self.key, "HALCYON_SIGNATURE_SALTS": Self.salt])
        let keys = try URLKeys.imgproxy([(key: Self.key, salt: Self.salt)])
        let encoded = Data(Self.picture.utf8).base64EncodedString().replacing("=", with: "")
        let paths = [
            "/rs:fit:30:30/plain/\(Self.picture)", "/rs:fit:30:30/plain/local:%2F%2F%2Fkingfisher.jpg",
            "/rs:fit:30:30/plain/local%3A///kingfisher.jpg@png", "/rs:fit:30:30/plain/local:///%6Bingfisher.jpg",
            "/rs:fit:30:30/\(encoded).png", "/rs:fit:30:30/\(encoded.prefix(7))/\(encoded.dropFirst(7)).webp",
            "/rs:fit:30:30/plain/local:///./kingfisher.jpg", "/rs:fit:30:30//plain/local:///kingfisher.jpg",
            "/rs:fit:30:30/plain/local:///x/../kingfisher.jpg", "/rs:fit:30:30/plain/local:///none.jpg?a=1",
            "/rs:fit:30:30/plain/http://127.0.0.1:1//a//b%2F%2Fc.jpg",
            "/rs:fit:30:30/" + String(repeating: "QUFB", count: 2000),
        ]
        let direct = try #require(fleet.serverPorts.first)
        var answered = 0
        for path in paths {
            let signed = "/" + (try #require(keys.signature(of: path))) + path
            let expected = try await DeployedFleet.get(signed, port: direct)
            let found = try await fleet.get(signed)
            #expect(found.status == expected.status, "\(path.prefix(80))")
            #expect(found.code == expected.code, "\(path.prefix(80))")
            if expected.status == 200 {
                #expect(found.body == expected.body)
                answered += 1
            }
        }
        #expect(answered >= 6)
        for _ in 0..<2 {
            let refused = try await fleet.get("/AAAA\(paths[0])")
            #expect(refused.status == 403 && refused.code == "signature")
            #expect(refused["X-Cache"] == "MISS" && refused["Cache-Control"] == "no-store")
        }
        #expect(try await fleet.get("/" + String(repeating: "a", count: 20_000)).status == 414)
    }

    @Test func reportsAreOutOfReach() async throws {
        let fleet = try await DeployedFleet(servers: 2)
        let reports = try #require(fleet.reportPorts.first)
        let direct = try await DeployedFleet.get("/metrics", port: reports)
        #expect(direct.status == 200 && String(decoding: direct.body, as: UTF8.self).contains("halcyon_server_"))
        let paths = [
            "/metrics", "//metrics", "/%6Detrics", "/ready", "/%72eady", "/ready?x", "/x/../ready",
            "http://127.0.0.1:\(reports)/metrics", "/../metrics", "/health/../metrics", "/metrics/..;/metrics",
        ]
        for path in paths {
            for host in ["127.0.0.1:\(reports)", "test"] {
                let answer = try await Self.raw(fleet, "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect((400...499).contains(answer.status), "\(path)")
                #expect(!String(decoding: answer.body, as: UTF8.self).contains("halcyon_"))
            }
        }
        #expect(try await fleet.get("/health").status == 200)
    }

    private static func raw(_ fleet: DeployedFleet, _ text: String) async throws -> HTTPAnswer {
        let port = fleet.port
        return try await blocking {
            let connection = try LoopbackConnection(port: port)
            try connection.send(text)
            return try connection.answer()
        }
    }

    /// A request in the body of another one, and lengths that contradict each other.
    @Test func noRequestHidesInAnother() async throws {
        let fleet = try await DeployedFleet(servers: 1)
        let hidden = "/_/rs:fit:33:33/plain/\(Self.picture)"
        let inner = "GET \(hidden) HTTP/1.1\r\nHost: test\r\n\r\n"
        let path = "/_/rs:fit:34:34/plain/\(Self.picture)"
        let chunk = String(inner.utf8.count, radix: 16)
        let rows: [(head: String, body: String, statuses: ClosedRange<Int>)] = [
            ("POST \(path)", "Content-Length: \(inner.utf8.count)\r\n\r\n\(inner)", 405...405),
            ("GET \(path)", "Content-Length: \(inner.utf8.count)\r\n\r\n\(inner)", 200...200),
            ("GET \(path)", "Transfer-Encoding: chunked\r\n\r\n\(chunk)\r\n\(inner)\r\n0\r\n\r\n", 200...200),
            ("GET \(path)", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(inner)", 400...400),
            ("GET \(path)", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n\(inner)", 400...400),
            ("GET \(path)", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n\(inner)", 400...501),
            ("GET \(path)", "Content-Length : 4\r\n\r\n\(inner)", 400...400),
        ]
        for (number, row) in rows.enumerated() {
            let text = "\(row.head)?\(number) HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\(row.body)"
            let answer = try await Self.raw(fleet, text)
            #expect(row.statuses.contains(answer.status), "\(number): \(answer.status)")
        }
        // Whoever asks for it first is answered by a server, so nobody has before.
        #expect(try await fleet.get(hidden)["X-Cache"] == "MISS")
        #expect(try await fleet.log(hidden, count: 1).count == 1)
    }

    @Test func originalsComeInPartsFromTheCache() async throws {
        let fleet = try await DeployedFleet(servers: 2)
        let path = "/_/raw:1/plain/\(Self.picture)"
        let bytes = try Data(contentsOf: ServerFixture.root.appending(path: "demo/gallery/kingfisher.jpg"))
        for cache in ["MISS", "HIT"] {
            let part = try await fleet.get(path, ["Range": "bytes=100-299"])
            #expect(part.status == 206)
            #expect(part["X-Cache"] == cache)
            #expect(part.body == bytes.dropFirst(100).prefix(200))
        }
        #expect(try await fleet.get(path).body == bytes)
        #expect(try await fleet.get(path, ["Range": "bytes=99999999-"]).status == 416)
    }

    /// nginx goes on with what it is to keep, and the next client has it.
    @Test func aClientThatLeavesSpoilsNothing() async throws {
        let fleet = try await DeployedFleet(servers: 1)
        let path = "/_/rs:fit:900:900/plain/\(Self.picture)@avif"
        let port = fleet.port
        try await blocking {
            let connection = try LoopbackConnection(port: port)
            try connection.send(LoopbackConnection.head(path))
            connection.leave()
        }
        let answer = try await fleet.get(path)
        #expect(answer.status == 200)
        #expect(try answer.image().size.width > 0)
    }
}
