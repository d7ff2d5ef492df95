import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import RedisServing
import Testing

@testable import HalcyonServer

/// Several servers, each with a disk of its own, and one Redis.
@Suite(.timeLimit(.minutes(5)))
struct FleetTests {
    private static let fresh: HTTPHeaders = ["Cache-Control": "max-age=600"]

    private func fleet(
        _ redis: RedisServer, s3: ServerConfiguration.S3? = nil,
        _ body: @escaping @Sendable ([ServerFixture]) async throws -> Void
    ) async throws {
        let transport = ScriptedTransport()
        let configure: @Sendable (inout ServerConfiguration) -> Void = {
            $0.cache.redis = "unix://\(redis.socket)"
            // The machine that runs the tests does much else: nobody gives up and goes on alone.
            $0.cache.redisPatience = .seconds(120)
            if let s3 { ($0.s3, $0.source.allow) = (s3, ["s3://photos/"]) }
        }
        try await ServerFixture.run(transport: transport, configure) { first in
            try await ServerFixture.run(transport: transport, configure) { second in
                try await body([first, second])
            }
        }
    }

    @Test func oneServerFetchesAndMakesWhatAllAnswer() async throws {
        let redis = try await RedisServer()
        try await fleet(redis) { servers in
            for picture in 0..<3 {
                try servers[0].serve("jpeg/baseline-420.jpg", as: "\(picture).jpg", headers: Self.fresh)
            }
            let answers = try await withThrowingTaskGroup(of: (String, Data).self) { group in
                for picture in 0..<3 {
                    for size in [8, 16, 24, 32] {
                        let path = "/fit-\(size)x\(size),png/http://images.test/\(picture).jpg"
                        for server in servers {
                            group.addTask {
                                let answer = try await server.get(path)
                                #expect(answer.status == 200)
                                return (path, answer.body)
                            }
                        }
                    }
                }
                return try await group.reduce(into: [String: Set<Data>]()) { $0[$1.0, default: []].insert($1.1) }
            }
            #expect(answers.count == 12)
            #expect(answers.values.allSatisfy { $0.count == 1 })
            #expect(servers[0].transport.requestCount == 3)
            let metrics = try await String(decoding: servers[1].report("/metrics").body, as: UTF8.self)
            #expect(metrics.contains("halcyon_server_redis_hits_total"))
        }
    }

    /// Signatures are no credentials of a client: the objects are for all, also where the store says nothing on caches.
    @Test func objectsOfAStoreAreShared() async throws {
        var store = ServerConfiguration.S3()
        (store.isEnabled, store.endpoint) = (true, "https://store.test:9000")
        (store.accessKey, store.secretKey) = ("id", "secret")
        let redis = try await RedisServer()
        try await fleet(redis, s3: store) { servers in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            let fields: HTTPHeaders = ["ETag": "\"abc\"", "Last-Modified": "Fri, 24 May 2013 00:00:00 GMT"]
            try servers[0].answer("https://store.test:9000/photos/a.jpg", with: .data(bytes, headers: fields))
            for size in [16, 24] {
                for server in servers {
                    #expect(try await server.get("/fit-\(size)x\(size),png/s3://photos/a.jpg").status == 200)
                }
            }
            let request = try #require(servers[0].transport.requests.first)
            #expect(request.headers["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 ") == true)
            #expect(servers[0].transport.requestCount == 1)
        }
    }

    @Test func aServerWithoutItsRedisAnswers() async throws {
        let redis = try await RedisServer()
        try await fleet(redis) { servers in
            let address = try servers[0].serve("jpeg/baseline-420.jpg", headers: Self.fresh)
            #expect(try await servers[0].get("/fit-16x16,png/\(address)").status == 200)
            redis.kill()
            #expect(try await servers[0].get("/fit-16x16,png/\(address)").status == 200)
            #expect(try await servers[1].get("/fit-16x16,png/\(address)").status == 200)
            #expect(try await servers[1].get("/fit-24x24,png/\(address)").status == 200)
            try await redis.start()
            #expect(try await servers[1].get("/fit-32x32,png/\(address)").status == 200)
        }
    }

    @Test func noRedisAtAllIsNoError() async throws {
        try await ServerFixture.run({ $0.cache.redis = "redis://127.0.0.1:1" }) { server in
            let address = try server.serve("jpeg/baseline-420.jpg", headers: Self.fresh)
            for size in 8..<14 { #expect(try await server.get("/fit-\(size)x\(size),png/\(address)").status == 200) }
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func addressesAreRead() throws {
        var cache = ServerConfiguration.Cache()
        func read(_ text: String) throws -> String {
            cache.redis = text
            return try "\(#require(try cache.redisConfiguration()))"
        }
        #expect(try read("redis://cache") == "Redis at cache:6379, database 0, prefix halcyon")
        #expect(try read("redis://u:p%40ss@[::1]:7000/3") == "Redis at [::1]:7000, database 3, prefix halcyon")
        cache.redis = "redis://u:p%40ss@[::1]:7000/3"
        #expect(try cache.redisConfiguration()?.password == "p@ss")
        #expect(try cache.redisConfiguration()?.username == "u")
        #expect(try read("unix:///run/redis.sock?db=2") == "Redis at /run/redis.sock, database 2, prefix halcyon")
        for bad in [
            "cache:6379", "http://cache", "redis://", "redis://cache:0", "redis://cache:99999", "redis://cache/x",
            "redis://cache/-1", "redis://cache?x=1", "unix://run/redis",
            "unix:///" + String(repeating: "a", count: 110),
            "unix:///s?db=x", "unix:///s?y=1", "redis://u:secret@cache/x",
        ] {
            let error = #expect(throws: ServerConfigurationError.self, "\(bad)") { try read(bad) }
            #expect(!"\(String(describing: error))".contains("secret"))
        }
    }
}
