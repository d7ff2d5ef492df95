import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import ImageURLs
import Testing

@testable import HalcyonServer

/// Objects of a store that checks signatures.
@Suite(.serialized) struct S3Tests {
    @Test func keysOfAllKinds() async throws {
        let store = try await blocking { try S3Server() }
        try await ServerFixture.run(usesNetwork: true) {
            $0.s3 = store.settings
            $0.source.allow = ["s3://", "http://"]
        } _: { server async throws in
            for key in store.keys {
                let path = S3Encoding.encoded(key.utf8, keepsSlashes: true)
                let answer = try await server.get("/fit-24x24/s3://photos/\(path)")
                #expect(answer.status == 200, "\(key)")
                guard !key.contains("?") else { continue }
                // imgproxy's keys are no parts of URLs.
                let source = S3Encoding.encoded("s3://photos/\(key)".utf8)
                let same = try await server.get("/_/rs:fit:24:24/plain/\(source)")
                #expect(same.status == 200 && same.body == answer.body, "\(key)")
                let base64 = Data("s3://photos/\(key)".utf8).base64EncodedString()
                    .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                #expect(try await server.get("/_/rs:fit:24:24/\(base64)").status == 200, "\(key)")
            }
        }
    }

    @Test func versions() async throws {
        let store = try await blocking { try S3Server() }
        try await ServerFixture.run(usesNetwork: true) {
            $0.s3 = store.settings
            $0.source.allow = ["s3://", "http://"]
        } _: { server async throws in
            let name = "/original/s3://photos/versioned.jpg"
            let (latest, former) = (
                try ServerFixture.fixture("jpeg/baseline-420.jpg"), try ServerFixture.fixture("jpeg/cmyk.jpg")
            )
            #expect(try await server.get(name).body == latest)
            #expect(try await server.get("\(name)?\(store.former)").body == former)
            #expect(try await server.get("\(name)?versionId=\(store.former)").body == former)
            let source = S3Encoding.encoded("s3://photos/versioned.jpg?\(store.former)".utf8)
            #expect(try await server.get("/_/raw:1/plain/\(source)").body == former)
            #expect(try await server.get("\(name)?none").status >= 400)
        }
    }

    @Test func temporaryKeys() async throws {
        let store = try await blocking { try S3Server() }
        try await ServerFixture.run(usesNetwork: true) {
            $0.s3 = store.temporarySettings
            $0.source.allow = ["s3://"]
        } _: { server async throws in
            #expect(try await server.get("/fit-24x24/s3://photos/a.jpg").status == 200)
            #expect(try await server.get("/fit-24x24/s3://private/secret.jpg").status == 502)
        }
    }

    @Test func failures() async throws {
        let store = try await blocking { try S3Server() }
        try await ServerFixture.run(usesNetwork: true) {
            $0.s3 = store.settings
            $0.source.allow = ["s3://", "http://"]
        } _: { server async throws in
            let none = try await server.get("/fit-24x24/s3://photos/none.jpg")
            #expect(none.status == 404 && none.code == "sourceNotFound")
            let denied = try await server.get("/fit-24x24/s3://private/secret.jpg")
            #expect(denied.status == 502 && denied.code == "httpStatus")
            #expect(try await server.get("/fit-24x24/s3://photos").status == 404)
            #expect(try await server.get("/fit-24x24/s3://photos/").status == 404)
            // The policy of addresses lets nobody else into the private network.
            for host in ["127.0.0.1:\(store.port)", "localhost:\(store.port)"] {
                #expect(try await server.get("/_/http://\(host)/photos/a.jpg").status == 403)
            }
        }
        try await ServerFixture.run(usesNetwork: true) {
            $0.s3 = store.settings
            $0.s3.secretKey = "another"
            $0.source.allow = ["s3://"]
        } _: { server async throws in
            #expect(try await server.get("/fit-24x24/s3://photos/a.jpg").status == 502)
        }
    }

    /// The object is asked for with its tag each time, and the store confirms it.
    @Test func objectsThatAreAskedForEachTime() async throws {
        let store = try await blocking { try S3Server() }
        try await ServerFixture.run(usesNetwork: true) {
            $0.s3 = store.settings
            $0.source.allow = ["s3://", "http://"]
        } _: { server async throws in
            let first = try await server.get("/original/s3://photos/asked.jpg")
            let second = try await server.get("/original/s3://photos/asked.jpg")
            #expect(first.status == 200 && second.status == 200)
            #expect(first.body == second.body && first["ETag"] == second["ETag"])
        }
    }
}

/// Requests to a store, as it receives them.
@Suite struct S3RequestTests {
    private static let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

    private static func settings(_ endpoint: String? = "https://store.test:9000") -> ServerConfiguration.S3 {
        var settings = ServerConfiguration.S3()
        (settings.isEnabled, settings.endpoint) = (true, endpoint)
        (settings.accessKey, settings.secretKey) = ("AKIAIOSFODNN7EXAMPLE", secret)
        return settings
    }

    /// The examples of "Authenticating Requests: Using the Authorization Header" in the documentation of Amazon S3.
    @Test(
        arguments: [
            (
                "https://examplebucket.s3.amazonaws.com/test.txt", ["Range": "bytes=0-9"],
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "https://examplebucket.s3.amazonaws.com/?lifecycle", [:],
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                "https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2", [:],
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, [String: String], String)])
    func knownAnswers(url: String, fields: [String: String], signature: String) throws {
        let signer = try S3Signer(Self.settings())
        var request = TransportRequest(url: try #require(URL(string: url)))
        for (name, value) in fields { request.headers.set(name, value) }
        let moment = Date(timeIntervalSince1970: 1_369_353_600)  // 2013-05-24
        let signed = signer.signed(request, at: moment, signedFields: fields.keys.sorted())
        #expect(signed.headers["Authorization"]?.hasSuffix("Signature=\(signature)") == true)
        #expect(signed.headers["x-amz-date"] == "20130524T000000Z")
    }

    private func expect(
        _ object: String, _ url: String?, endpoint: String?, path: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var settings = Self.settings(endpoint)
        settings.usesPathStyle = path
        let place = try S3Endpoint(settings)
        let found = try? place.url(of: S3Object(SourceURL(object))).absoluteString
        #expect(found == url, sourceLocation: sourceLocation)
    }

    @Test func placesOfBuckets() throws {
        let own = "https://store.test:9000/s3/"
        try expect("s3://photos/a/b.jpg", "https://photos.s3.us-east-1.amazonaws.com/a/b.jpg", endpoint: nil)
        try expect("s3://photos/a/b.jpg", "https://store.test:9000/s3/photos/a/b.jpg", endpoint: own)
        try expect("s3://photos/a/b.jpg", "https://photos.store.test:9000/s3/a/b.jpg", endpoint: own, path: false)
        // These are no labels of a host.
        try expect("s3://Photos/a", "https://s3.us-east-1.amazonaws.com/Photos/a", endpoint: nil)
        try expect("s3://my.photos/a", "https://s3.us-east-1.amazonaws.com/my.photos/a", endpoint: nil)
        try expect("s3://my_photos/a", "https://s3.us-east-1.amazonaws.com/my_photos/a", endpoint: nil)
        try expect("s3://-photos/a", "https://s3.us-east-1.amazonaws.com/-photos/a", endpoint: nil)
        try expect("s3://minio/health/live", nil, endpoint: own)
    }

    @Test func nothingButAnObjectIsAskedFor() throws {
        let own = "https://store.test"
        for object in ["s3://photos", "s3://photos/", "s3://photos?acl", "s3://photos/?acl", "s3://photos#a"] {
            try expect(object, nil, endpoint: own)
        }
        try expect("s3://photos/a?acl", "https://store.test/photos/a?versionId=acl", endpoint: own)
        try expect(
            "s3://photos/a?versionId=1&acl", "https://store.test/photos/a?versionId=1%26acl", endpoint: own)
        try expect("s3://photos/a%3Facl", "https://store.test/photos/a%3Facl", endpoint: own)
        try expect("s3://photos/a+b%2Bc", "https://store.test/photos/a%2Bb%2Bc", endpoint: own)
        try expect("s3://photos//a%2F%2fb", "https://store.test/photos//a//b", endpoint: own)
        let others = [
            "s3://photos/../private/a", "s3://photos/%2e%2e/private/a", "s3://photos/%2E%2E%2fprivate/a",
            "s3://photos/a/..%2f..%2fprivate/a", "s3://photos@evil.test/a", "s3://photos:80/a", "s3://photos%2fa/b",
            "s3://ph%6ftos/a", "s3://../a", "s3://photos/..", "s3://[::1]/a", "s3://photos\\@evil.test/a",
        ]
        for object in others { try expect(object, nil, endpoint: own) }
    }

    @Test func rulesSeeTheSlashesOfKeys() throws {
        let rules = try SourceRules(allowed: ["s3://photos/a*/x/"], schemes: ["s3"])
        #expect((try? rules.resolve("s3://photos/ab/x/1"))?.path == "/ab/x/1")
        #expect((try? rules.resolve("s3://photos/%61b%2fx%2F1"))?.path == "/ab/x/1")
        #expect((try? rules.resolve("s3://photos/a%2Fprivate/x/1")) == nil)
        #expect((try? rules.resolve("s3://private/ab/x/1")) == nil)
    }

    @Test func bucketsThatAreNotAllowed() async throws {
        try await ServerFixture.run {
            $0.s3 = Self.settings()
            $0.source.allow = ["s3://photos/public/", "http://images.test/"]
        } _: { server async throws in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            try server.answer("https://store.test:9000/photos/public/a.jpg", with: .data(bytes))
            try server.answer("http://images.test/a.jpg", with: .redirect(to: "s3://photos/public/a.jpg"))
            #expect(try await server.get("/fit-24x24/s3://photos/public/a.jpg").status == 200)
            #expect(try await server.get("/fit-24x24/s3://photos/private/a.jpg").status == 403)
            #expect(try await server.get("/fit-24x24/s3://private/public/a.jpg").status == 403)
            #expect(try await server.get("/fit-24x24/https://store.test:9000/photos/public/a.jpg").status == 403)
            #expect(try await server.get("/fit-24x24/http://images.test/a.jpg").status == 502)
            #expect(server.transport.requestCount == 2)
        }
        try await ServerFixture.run { server async throws in
            #expect(try await server.get("/fit-24x24/s3://photos/public/a.jpg").status == 403)
        }
    }

    @Test func aStoreHasRules() {
        var configuration = ServerConfiguration()
        configuration.cache.folder = nil
        configuration.s3 = Self.settings()
        #expect(throws: ServerConfigurationError.self) { try ServerApplication(configuration) }
        configuration.source.allow = ["s3://photos/"]
        #expect(throws: Never.self) { try ServerApplication(configuration) }
    }

    /// The buckets of a store have one share of the places, which leaves some for other sources.
    @Test func aStoreThatSaysNothingDoesNotTakeAllTransfers() async throws {
        try await ServerFixture.run {
            $0.s3 = Self.settings()
            $0.source.allow = ["s3://", "http://"]
            $0.queue.transfers = 4
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let other = try server.serve("jpeg/baseline-420.jpg")
            let names = (0..<12).map { "\(["photos", "others"][$0 % 2])/\($0)" }
            for name in names {
                var answer = ScriptedTransport.Answer.data(try ServerFixture.fixture("jpeg/baseline-420.jpg"))
                answer.headGate = gate
                try server.answer("https://store.test:9000/\(name)", with: answer)
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for name in names { group.addTask { try await server.get("/_/s3://\(name)").status } }
                try await server.transport.waitForRequests(2)
                #expect(try await server.get("/_/\(other)").status == 200)
                #expect(server.transport.requestCount == 3)
                #expect(server.application.transfers.statistics.working == 2)
                #expect(server.application.hosts?.count == 1)
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: names.count))
        }
    }

    @Test func keysStayWithTheirStore() async throws {
        try await ServerFixture.run {
            $0.s3 = Self.settings()
            $0.source.passHeaders = ["Authorization", "Cookie", "Accept-Language"]
            $0.source.allow = ["s3://photos/", "http://"]
        } _: { server async throws in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=600"]
            try server.answer("https://store.test:9000/photos/a.jpg", with: .data(bytes, headers: fresh))
            try server.answer("https://store.test:9000/photos/moved.jpg", with: .redirect(to: "http://evil.test/"))
            try server.answer("http://images.test/a.jpg", with: .data(bytes))
            let fields = ["Authorization": "Bearer 1", "Cookie": "a=b", "Accept-Language": "de"]
            let first = try await server.get("/fit-24x24/s3://photos/a.jpg", fields)
            #expect(first.status == 200)
            #expect(first["Cache-Control"]?.contains("private") == false)
            // Nothing in the answer is one client's own.
            #expect(try await server.get("/fit-24x24/s3://photos/a.jpg").status == 200)
            let moved = try await server.get("/fit-24x24/s3://photos/moved.jpg")
            #expect(moved.status == 502)
            #expect(!String(decoding: moved.body, as: UTF8.self).contains(Self.secret))
            #expect(try await server.get("/fit-24x24/http://images.test/a.jpg").status == 200)
            let requests = server.transport.requests
            #expect(
                requests.map(\.url.absoluteString) == [
                    "https://store.test:9000/photos/a.jpg", "https://store.test:9000/photos/moved.jpg",
                    "http://images.test/a.jpg",
                ])
            for request in requests.prefix(2) {
                #expect(request.headers["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIA") == true)
                #expect(request.headers["Cookie"] == nil && request.headers["Accept-Language"] == nil)
                #expect(request.addressPolicy.allowedHosts == ["store.test"])
            }
            #expect(requests.last?.headers["Authorization"] == nil)
            #expect(requests.last?.headers.fields.allSatisfy { !$0.name.hasPrefix("x-amz") } == true)
        }
    }

    @Test func objectsAreAskedForWithTheirTag() async throws {
        try await ServerFixture.run {
            $0.s3 = Self.settings()
            $0.source.allow = ["s3://photos/"]
        } _: { server async throws in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            let fields: HTTPHeaders = ["ETag": "\"abc\"", "Cache-Control": "no-cache"]
            try server.answer(
                "https://store.test:9000/photos/a.jpg", with: .data(bytes, headers: fields),
                .init(status: 304, headers: fields))
            #expect(try await server.get("/fit-24x24/s3://photos/a.jpg").status == 200)
            #expect(try await server.get("/fit-24x24/s3://photos/a.jpg").status == 200)
            #expect(server.transport.requests.map { $0.headers["If-None-Match"] } == [nil, "\"abc\""])
        }
    }

    @Test func statusesOfStores() async throws {
        try await ServerFixture.run {
            $0.s3 = Self.settings()
            $0.source.allow = ["s3://photos/"]
        } _: { server async throws in
            for (status, expected) in [
                (301, 502), (307, 502), (400, 502), (403, 502), (404, 404), (500, 502), (501, 502),
            ] {
                try server.answer("https://store.test:9000/photos/\(status)", with: .status(status))
                #expect(try await server.get("/fit-24x24/s3://photos/\(status)").status == expected, "\(status)")
            }
        }
    }

    @Test func settingsOfTheEnvironment() async throws {
        let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"]
        let base = keys.merging(["HALCYON_S3_ENABLED": "true", "AWS_REGION": "eu-west-1"]) { $1 }
        let amazon = try await ServerConfiguration(environment: base).s3
        #expect(amazon.accessKey == "id" && amazon.secretKey == "secret" && amazon.sessionToken == "token")
        #expect(amazon.region == "eu-west-1")
        let own = try await ServerConfiguration(
            environment: base.merging([
                "HALCYON_S3_ENDPOINT": "http://localhost:9000", "HALCYON_S3_ACCESS_KEY": "a",
                "HALCYON_S3_SECRET_KEY": "b", "HALCYON_S3_REGION": "here", "HALCYON_S3_PATH_STYLE": "false",
            ]) { $1 }
        ).s3
        #expect(own.accessKey == "a" && own.secretKey == "b" && own.sessionToken == nil)
        #expect(own.region == "here" && !own.usesPathStyle)
    }

    @Test(arguments: [
        ["HALCYON_S3_ENABLED": "true"], ["HALCYON_S3_ENABLED": "true", "HALCYON_S3_ACCESS_KEY": "a"],
        ["HALCYON_S3_ENABLED": "true", "HALCYON_S3_ACCESS_KEY": "a", "HALCYON_S3_SECRET_KEY": "b c"],
        ["HALCYON_S3_ENDPOINT": "ftp://a"], ["HALCYON_S3_ENDPOINT": "http://user@a"], ["HALCYON_S3_ENDPOINT": "a"],
        ["HALCYON_S3_ENDPOINT": "http://a?b"], ["HALCYON_S3_REGION": "a.evil.test/"], ["HALCYON_S3_REGION": "a b"],
    ])
    func settingsThatAreNone(environment: [String: String]) async throws {
        var all = environment
        if all["HALCYON_S3_ENABLED"] == nil {
            all["HALCYON_S3_ENABLED"] = "true"
            (all["AWS_ACCESS_KEY_ID"], all["AWS_SECRET_ACCESS_KEY"]) = ("secretid", "secret")
        }
        let error = await #expect(throws: ServerConfigurationError.self) {
            try await ServerConfiguration(environment: all)
        }
        #expect(error?.description.contains("secret") != true || error?.description.contains("s3.secretKey") == true)
    }
}
