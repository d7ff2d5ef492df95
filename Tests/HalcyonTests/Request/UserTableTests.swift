import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

/// The users that get each other's bytes: credential x `Cache-Control` x `Vary` x memory, disk, a second process, encoded
/// answers, in flight.
@Suite(.timeLimit(.minutes(5)))
struct UserTableTests {
    /// The user that a server sees. It sends each a picture of another format.
    enum Asker: String, CaseIterable {
        case nobody, alice, bob, cookie

        init(_ request: TransportRequest) {
            self =
                switch (request.headers["Authorization"], request.headers["Cookie"]) {
                case ("Bearer alice", _): .alice
                case ("Bearer bob", _): .bob
                case (_, "session=alice"): .cookie
                default: .nobody
                }
        }

        var file: String {
            switch self {
            case .nobody: "png/rgb8.png"
            case .alice: "jpeg/gray.jpg"
            case .bob: "gif/still.gif"
            case .cookie: "webp/lossless.webp"
            }
        }

        var format: ImageFormat {
            switch self {
            case .nobody: .png
            case .alice: .jpeg
            case .bob: .gif
            case .cookie: .webp
            }
        }

        func request(_ url: URL) -> ImageRequest {
            var request = ImageRequest(url)
            request.cachePolicy.waitsForStore = true
            switch self {
            case .nobody: break
            case .alice: request.network.credential = .bearer("alice")
            // The same by another way.
            case .bob: request.network.headers = ["Authorization": "Bearer bob"]
            case .cookie: request.network.headers = ["Cookie": "session=alice"]
            }
            return request
        }
    }

    enum Place: CaseIterable {
        case memory, disk, restart, encoded
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let control: String?
        var vary: String?
        /// Whether the response is for all users, whoever has requested it.
        var isForAll = false
        var isKept = true

        var testDescription: String { "Cache-Control: \(control ?? "-"), Vary: \(vary ?? "-")" }

        var headers: HTTPHeaders {
            var headers = HTTPHeaders()
            headers["Cache-Control"] = control
            headers["Vary"] = vary
            return headers
        }

        /// Whether what one has got answers another.
        func answers(_ first: Asker, _ second: Asker) -> Bool { isKept && (first == second || isForAll) }
    }

    /// How else a field may be written, `HTTPCacheMetadataTests` goes through.
    static let rows: [Row] = [
        Row(control: nil), Row(control: "private, max-age=60"), Row(control: "no-store, public", isKept: false),
        Row(control: "public, max-age=60", isForAll: true), Row(control: "s-maxage=60, max-age=60", isForAll: true),
        Row(control: "public, private, max-age=60"), Row(control: "\"x, public, y\", max-age=60"),
        Row(control: "must-revalidate, max-age=60"),
        Row(control: "max-age=60", vary: "Accept-Language"), Row(control: "max-age=60", vary: "Cookie"),
        Row(control: "max-age=60", vary: "*", isKept: false),
        Row(control: "public, max-age=60", vary: "Accept-Language", isForAll: true),
        Row(control: "public, max-age=60", vary: "Accept, authorization"),
        Row(control: "public, max-age=60", vary: "Cookie"),
        Row(control: "public, max-age=60", vary: "\"Accept\"", isKept: false),
    ]

    /// The user that asks first, and those that ask after.
    private static let pairs: [(Asker, [Asker])] = [
        (.nobody, [.nobody, .alice]), (.alice, [.nobody, .alice, .bob, .cookie]), (.cookie, [.cookie, .alice]),
    ]

    @Test(arguments: rows)
    func nobodyGetsAnothersBytes(_ row: Row) async throws {
        let transport = ScriptedTransport { request in
            let data = try? TestFiles.data(Asker(request).file)
            return .data(data ?? Data(), headers: row.headers)
        }
        let fixture = PipelineFixture(transport: transport)
        let restarted = PipelineFixture(folder: fixture.folder, transport: transport)
        for place in Place.allCases {
            let reader = place == .restart ? restarted : fixture
            for (first, others) in Self.pairs {
                for second in others {
                    let url = PipelineFixture.url("\(place)/\(first)/\(second)")
                    var (one, two) = (first.request(url), second.request(url))
                    if place == .memory {
                        (one.cachePolicy.waitsForStore, two.cachePolicy.waitsForStore) = (false, false)
                    }
                    _ = try await load(one, from: place, fixture.pipeline)
                    let before = transport.requestCount
                    if place != .memory { fixture.pipeline.cache.clearMemory() }
                    let answer = try await load(two, from: place, reader.pipeline)
                    let isAnswered = row.answers(first, second)
                    let expected = Self.reference(isAnswered ? first : second, place)
                    #expect(answer == expected, "\(place): \(second) behind \(first)")
                    #expect(
                        transport.requestCount - before == (isAnswered ? 0 : 1), "\(place): \(second) behind \(first)")
                }
            }
        }
    }

    /// Returns data that identifies whose picture was loaded.
    private func load(_ request: ImageRequest, from place: Place, _ pipeline: ImagePipeline) async throws -> Data {
        guard place == .encoded else { return Data(try await pipeline.image(for: request).info.format.name.utf8) }
        return try await pipeline.encodedImage(for: request, as: .png).data
    }

    private static func reference(_ asker: Asker, _ place: Place) -> Data? {
        place == .encoded ? encoded[asker].map { Data($0) } : Data(asker.format.name.utf8)
    }

    /// No `Data`, whose pointers have marks that LeakSanitizer does not see through.
    private static let encoded: [Asker: [UInt8]] = {
        let all = Asker.allCases.compactMap { asker -> (Asker, [UInt8])? in
            guard let image = try? Image(data: TestFiles.data(asker.file)),
                let data = try? CoderRegistry.shared.encode(image, as: .png, options: EncodeOptions())
            else { return nil }
            return (asker, Array(data))
        }
        return Dictionary(uniqueKeysWithValues: all)
    }()

    @Test(arguments: ["public, max-age=60", "private, max-age=60"])
    func nobodyJoinsAnothersTransfer(control: String) async throws {
        let gate = ScriptedTransportGate()
        let transport = ScriptedTransport { request in
            let data = try? TestFiles.data(Asker(request).file)
            return .data(data ?? Data(), headers: ["Cache-Control": control]).held(by: gate)
        }
        let fixture = PipelineFixture(transport: transport)
        let url = PipelineFixture.url("a")
        try await withThrowingTaskGroup { group in
            for asker in Asker.allCases + Asker.allCases {
                group.addTask {
                    let format = try await fixture.pipeline.image(for: asker.request(url)).info.format
                    #expect(format == asker.format)
                }
            }
            while await !fixture.pipeline.isWaitingForBytes(8) { await Task.yield() }
            let stream = fixture.pipeline.events
            for asker in Asker.allCases + Asker.allCases {
                group.addTask {
                    let bytes = try await fixture.pipeline.data(for: asker.request(url))
                    #expect(try bytes == TestFiles.data(asker.file))
                }
            }
            await PipelineFixture.waitForStarts(8, in: stream)
            try await transport.waitForRequests(4)
            gate.open()
            try await group.waitForAll()
        }
        #expect(Set(transport.requests.map { Asker($0) }).count == 4)
    }
}
