import Foundation
import Halcyon
import RedisServing
import Testing

@testable import HalcyonServer

/// The files of Server/deploy beside nginx's: the unit, the image, Redis and the compose file.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DeployTests {
    private static let unit = DeployedFleet.deploy.appending(path: "halcyon-server@.service")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: DeployedFleet.deploy.appending(path: name), encoding: .utf8)
    }

    private static func inFolder<Value: Sendable>(
        _ body: @escaping @Sendable (URL) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "deploy-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    // MARK: - systemd

    @Test func systemdUnderstandsTheUnitAndCountsLittleExposure() async throws {
        try await Self.inFolder { folder async throws in
            // An instance of the unit with a program that is there.
            let file = folder.appending(path: "halcyon-server@8080.service")
            let text = try Self.text("halcyon-server@.service")
            try #require(text.contains("ExecStart=/usr/local/bin/halcyon-server\n"))
            try text.replacing("/usr/local/bin/halcyon-server", with: ServerProgram.file.path)
                .write(to: file, atomically: true, encoding: .utf8)
            let found = try await blocking { try output(of: "/usr/bin/systemd-analyze", ["verify", file.path]) }
            #expect(found.status == 0 && found.text.isEmpty, "\(found.text)")
            let wrong = folder.appending(path: "wrong@8080.service")
            try text.replacing("UMask=0077", with: "UMask=many\nUMasque=1").write(
                to: wrong, atomically: true, encoding: .utf8)
            let refused = try await blocking { try output(of: "/usr/bin/systemd-analyze", ["verify", wrong.path]) }
            #expect(refused.text.contains("UMasque"))
            let exposure = try await blocking {
                try output(
                    of: "/usr/bin/systemd-analyze",
                    ["security", "--offline=true", "--threshold=12", "--no-pager", Self.unit.path])
            }
            #expect(exposure.status == 0, "\(exposure.text.suffix(200))")
        }
    }

    /// The system calls that the unit allows, as its lines say in their order.
    private static func allowedCalls() throws -> Set<String> {
        let list = try output(of: "/usr/bin/systemd-analyze", ["syscall-filter", "--no-pager"]).text
        var groups: [Substring: [Substring]] = [:]
        var group: Substring = ""
        for line in list.split(separator: "\n") {
            let word = line.drop { $0 == " " }
            if line.hasPrefix("@") { group = line }
            if line.hasPrefix(" "), !word.hasPrefix("#") { groups[group, default: []].append(word) }
        }
        func members(_ name: Substring) -> Set<String> {
            guard name.hasPrefix("@") else { return [String(name)] }
            return (groups[name] ?? []).reduce(into: []) { $0.formUnion(members($1)) }
        }
        // systemd always allows these.
        var allowed = members("@default")
        for line in try text("halcyon-server@.service").split(separator: "\n") {
            guard var value = line.split(separator: "=", maxSplits: 1).last, line.hasPrefix("SystemCallFilter=") else {
                continue
            }
            let isDenied = value.hasPrefix("~")
            if isDenied { value = value.dropFirst() }
            let calls = value.split(separator: " ").reduce(into: Set<String>()) { $0.formUnion(members($1)) }
            allowed = isDenied ? allowed.subtracting(calls) : allowed.union(calls)
        }
        return allowed
    }

    /// As nobody, without a home, privileges or a variable but its own, in a system that it cannot write to: all that the program and
    /// its workers call is in the unit's list, memory is never both written and run, and nothing of a home is opened.
    @Test func theProgramRunsAsNobodyWithinTheUnitsRules() async throws {
        try #require(getuid() == 0, "another user is made by the superuser alone")
        try await Self.inFolder { folder async throws in
            let trace = try await blocking { try Self.trace(in: folder) }
            let lines = trace.split(separator: "\n").map { $0.drop { $0.isNumber || $0 == " " } }
            // From the program itself on.
            let start = try #require(lines.firstIndex { $0.contains("execve(\"\(ServerProgram.file.path)\"") })
            let calls = lines[start...].filter { $0.first?.isLetter == true }
            let allowed = try Self.allowedCalls()
            #expect(allowed.contains("capset") && !allowed.contains("mount") && !allowed.contains("setuid"))
            // The threads' priorities, and where their memory is: both may be refused.
            let tried: Set<String> = ["setpriority", "set_mempolicy"]
            let names = Set(calls.map { String($0.prefix { $0 != "(" }) }.filter { $0.allSatisfy { $0 != " " } })
            #expect(names.count > 40)
            #expect(names.subtracting(allowed).subtracting(tried) == [])
            #expect(names.isSuperset(of: ["seccomp", "landlock_restrict_self", "capset"]))
            #expect(!calls.contains { $0.contains("PROT_WRITE|PROT_EXEC") })
            #expect(!calls.contains { $0.hasPrefix("mprotect(") && $0.contains("PROT_EXEC") })
            #expect(!calls.contains { $0.contains("CLONE_NEW") })
            let families = calls.filter { $0.hasPrefix("socket(") || $0.hasPrefix("socketpair(") }
            #expect(
                families.allSatisfy { $0.contains("AF_UNIX") || $0.contains("AF_INET") || $0.contains("AF_NETLINK") })
            // The worker's build folder of this checkout is where its libraries are looked for.
            let build = ServerProgram.file.deletingLastPathComponent().path
            let opened = calls.filter { $0.hasPrefix("open") && !$0.contains(build) }
            #expect(opened.count > 20)
            #expect(
                !opened.contains { $0.contains("\"/root") || $0.contains("\"/home") || $0.contains("/nonexistent") })
        }
    }

    /// Runs the program for a picture of each kind. Returns its system calls.
    private static func trace(in folder: URL) throws -> String {
        let cache = folder.appending(path: "cache")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
        let pictures = folder.appending(path: "pictures")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        let gallery = ServerFixture.root.appending(path: "demo/gallery")
        for name in ["kingfisher.jpg", "koi-interlaced.png", "orbit.gif", "jellyfish.webp"] {
            try FileManager.default.copyItem(
                at: gallery.appending(path: name), to: pictures.appending(path: name))
        }
        try Data(#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="9">a</text></svg>"#.utf8)
            .write(to: pictures.appending(path: "a.svg"))
        guard chown(cache.path, 65534, 65534) == 0 else { throw CocoaError(.fileWriteNoPermission) }
        let file = folder.appending(path: "trace")
        // The mounts are this process's own; the whole system can only be read, but for the folder of the test.
        let script = """
            mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,bind,ro / &&
            exec strace -f -s 300 -o "$1" setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
            --inh-caps=-all --bounding-set=-all env -i PATH=/usr/bin:/bin HALCYON_HTTP_PORT=0 HALCYON_METRICS_PORT=0 \
            HALCYON_CACHE_FOLDER="$0/cache" HALCYON_SOURCE_FOLDER="$0/pictures" HALCYON_ANSWER_FORMATS=jxl,avif,webp \
            "$2"
            """
        let program = try ServerProgram(
            [:], command: ["/usr/bin/unshare", "-m", "bash", "-c", script, folder.path, file.path])
        let port = try program.ports().pictures
        for name in ["kingfisher.jpg", "koi-interlaced.png", "orbit.gif", "jellyfish.webp", "a.svg"] {
            for type in ["image/avif", "image/jxl", "image/webp", "*/*"] {
                let connection = try LoopbackConnection(port: port)
                try connection.send(
                    LoopbackConnection.head("/fit-30x30/local:///\(name)", ["Accept": type]))
                let answer = try connection.answer()
                if answer.status != 200 { throw LoopbackConnection.Failure(description: "\(name): \(answer.status)") }
            }
        }
        let kept = try FileManager.default.subpathsOfDirectory(atPath: cache.path)
        if kept.count < 5 { throw LoopbackConnection.Failure(description: "nothing is kept: \(kept)") }
        // strace ends with the program that it looks at, which is its child.
        guard let id = ServerProgram.children(of: program.id).first else {
            throw LoopbackConnection.Failure(description: "strace has no child")
        }
        kill(id, SIGTERM)
        let end = program.end()
        if end.status != 0 { throw LoopbackConnection.Failure(description: "ended with \(end.status)") }
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// A transfer and a request in hand are finished, as SIGTERM of systemd and Docker asks for.
    @Test func sigtermFinishesTheRequestInHand() async throws {
        try await Self.inFolder { folder async throws in
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            try await blocking {
                let origin = try OriginSocket()
                let program = try ServerProgram([
                    "HALCYON_CACHE_FOLDER": folder.path, "HALCYON_SOURCE_ALLOW_PRIVATE_ADDRESSES": "true",
                ])
                let port = try program.ports().pictures
                let connection = try LoopbackConnection(port: port)
                try connection.send(
                    LoopbackConnection.head("/fit-20x20,png/http://127.0.0.1:\(origin.port)/a.jpg"))
                let asked = try origin.accept()
                program.terminate()
                // The port closes, and nothing else does.
                while (try? LoopbackConnection(port: port)) != nil { usleep(2000) }
                try asked.answer(bytes)
                let answer = try connection.answer()
                #expect(answer.status == 200)
                #expect(answer["Content-Type"] == "image/png")
                #expect(program.end().status == 0)
            }
        }
    }

    /// A client that leaves ends the transfer that nobody else waits for.
    @Test func aClientThatLeavesEndsItsTransfer() async throws {
        try await Self.inFolder { folder async throws in
            try await blocking {
                let origin = try OriginSocket()
                let program = try ServerProgram([
                    "HALCYON_CACHE_FOLDER": folder.path, "HALCYON_SOURCE_ALLOW_PRIVATE_ADDRESSES": "true",
                ])
                let connection = try LoopbackConnection(port: try program.ports().pictures)
                try connection.send(
                    LoopbackConnection.head("/fit-20x20/http://127.0.0.1:\(origin.port)/a.jpg"))
                let asked = try origin.accept()
                connection.leave()
                #expect(try asked.isLeft())
            }
        }
    }

    // MARK: - Docker

    /// The packages that the image gets bring all libraries that the program links.
    @Test func theImageHasTheProgramsLibraries() async throws {
        let text = try Self.text("Dockerfile")
        let (list, linked) = try await blocking {
            (try Self.packages(in: text), try output(of: "/usr/bin/ldd", [ServerProgram.file.path]).text)
        }
        #expect(list.contains("ca-certificates") && list.contains("libhiredis0.14"))
        let command = """
            apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" \
            | grep -oE '^[a-z0-9].*' | sed -E 's/:[a-z0-9]+$//'
            """
        let covered = try await blocking {
            Set(try output(of: "/bin/bash", ["-c", command, "bash"] + list).text.split(separator: "\n"))
        }
        let files = linked.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count > 2, words[1] == "=>", words[2].hasPrefix("/lib") || words[2].hasPrefix("/usr/lib") else {
                return nil
            }
            return URL(filePath: String(words[2])).resolvingSymlinksInPath().path
        }
        #expect(files.count > 40)
        for file in files {
            // Debian has some libraries in /lib, which is a link.
            let query = "dpkg-query -S \"$0\" \"${0#/usr}\" 2>/dev/null || true"
            let owner = try await blocking { try output(of: "/bin/bash", ["-c", query, file]).text }
            let package = owner.prefix { $0 != ":" }
            #expect(covered.contains(package), "\(file) of \(package)")
        }
    }

    private static func packages(in text: String) throws -> [String] {
        let lines = text.split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasSuffix("# packages of the program's libraries") })
        let last = try #require(lines.firstIndex { $0.hasSuffix("    # end") })
        return lines[(first + 1)..<last].map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
    }

    /// The steps of the image are the scripts that the tests ran before, and its check of health tells a server from none.
    @Test func theImagesStepsAndItsCheckOfHealth() async throws {
        let text = try Self.text("Dockerfile")
        for script in ["scripts/install-packages", "scripts/build"] {
            let path = ServerFixture.root.appending(path: script).path
            #expect(text.contains("RUN \(script) ") && FileManager.default.isExecutableFile(atPath: path))
        }
        #expect(text.contains("USER nobody:nogroup"))
        let line = try #require(text.split(separator: "\n").first { $0.contains("CMD [\"bash\"") })
        let json = try #require(line.range(of: "CMD ").map { line[$0.upperBound...] })
        let command = try JSONDecoder().decode([String].self, from: Data(json.utf8))
        try await ServerFixture.run { server async throws in
            let words = command.dropFirst()
            func check(_ port: Int) async throws -> Int32 {
                let own = words.map { $0.replacing("/8080 ", with: "/\(port) ") }
                return try await blocking { try output(of: "/bin/bash", own).status }
            }
            #expect(words.contains { $0.contains("/8080 ") })
            #expect(try await check(server.port) == 0)
            #expect(try await check(1) != 0)
        }
    }

    // MARK: - Redis and compose

    @Test func redisTakesItsSettings() async throws {
        let redis = try await RedisServer(configuration: DeployedFleet.deploy.appending(path: "redis.conf").path)
        #expect(try redis.setting("maxmemory") == "\(1 << 30)")
        #expect(try redis.setting("maxmemory-policy") == "allkeys-lru")
        #expect(try redis.setting("save") == "")
        #expect(try redis.setting("appendonly") == "no")
        #expect(try redis.setting("protected-mode") == "yes")
    }

    private struct Compose: Decodable {
        struct Service: Decodable {
            let image: String
            let ports: [String]?
            let networks: [String]
            let environment: [String: String]?
            let volumes: [String]?
            let read_only: Bool?
        }
        struct Network: Decodable { let `internal`: Bool? }

        let services: [String: Service]
        let networks: [String: Network]
    }

    @Test func theComposeFileIsOneFleet() async throws {
        let python = ServerFixture.root.appending(path: "Server/.build/clients/bin/python").path
        try #require(FileManager.default.isExecutableFile(atPath: python), "scripts/test-server makes \(python)")
        let file = DeployedFleet.deploy.appending(path: "compose.yaml").path
        let json = try await blocking {
            try output(
                of: python,
                ["-c", "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))", file])
        }
        let compose = try JSONDecoder().decode(Compose.self, from: Data(json.text.utf8))
        let servers = compose.services.filter { $0.key.hasPrefix("halcyon-") }
        #expect(servers.count == 3)
        // Only nginx has a port, and it does not reach Redis.
        #expect(compose.services.filter { $0.value.ports != nil }.map(\.key) == ["nginx"])
        #expect(compose.services["nginx"]?.networks == ["outside"])
        #expect(compose.services["redis"]?.networks == ["inside"])
        #expect(compose.networks["inside"]?.internal == true)
        let upstream = try Self.text("nginx/upstream-compose.conf")
        let names = upstream.split(separator: "\n").filter { $0.contains("server halcyon-") }.compactMap {
            $0.split(separator: " ").dropFirst().first?.prefix { $0 != ":" }
        }
        #expect(names.map(String.init).sorted() == servers.keys.sorted())
        for server in servers.values {
            #expect(server.read_only == true)
            // Each setting is one that the program has.
            let settings = (server.environment ?? [:]).filter { !$0.value.hasPrefix("${") }
            let configuration = try await ServerConfiguration(environment: settings)
            #expect(configuration.cache.redis == "redis://redis:6379")
            _ = try configuration.cache.redisConfiguration()
        }
        for mount in compose.services.values.flatMap({ $0.volumes ?? [] }) where mount.hasPrefix("./") {
            let path = String(mount.dropFirst(2).prefix { $0 != ":" })
            #expect(throws: Never.self) { try Self.text(path) }
        }
    }
}
