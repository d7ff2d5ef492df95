import Foundation
import Halcyon
import HalcyonTesting
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

@testable import HalcyonServer

/// Queues, clients that leave or take nothing, and the end of the server.
@Suite(.serialized) struct LoadTests {
    @Test func requestsForOnePictureShareItsWork() async throws {
        try await ServerFixture.run { server async throws in
            let gate = ScriptedTransportGate()
            let source = try server.serve("jpeg/baseline-420.jpg", gate: gate)
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
                for _ in 0..<8 { group.addTask { try await server.get("/fit-24x24/\(source)") } }
                for _ in 0..<8 { group.addTask { try await server.get("/fit-12x12/\(source)") } }
                try await server.transport.waitForRequests(1)
                #expect(server.application.transfers.statistics.working == 1)
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(Set(answers.map(\.body)).count == 2)
            #expect(server.transport.requestCount == 1)
        }
    }

    /// The threads that decode may all be at work for long, and the server is well.
    @Test func healthIsToldWhileAllThreadsWork() async throws {
        try await ServerFixture.run { server async throws in
            let pool = NIOThreadPool.singleton
            let free = DispatchSemaphore(value: 0)
            let late = Atomic(0)
            for _ in 0..<pool.numberOfThreads {
                pool.submit { _ in
                    if free.wait(timeout: .now() + 10) == .timedOut { late.add(1, ordering: .relaxed) }
                }
            }
            let answer = try await server.get("/health")
            for _ in 0..<pool.numberOfThreads { free.signal() }
            #expect(answer.status == 200)
            #expect(late.load(ordering: .relaxed) == 0)
        }
    }

    @Test func aDecodeThatDoesNotEndIsNotWaitedFor() async throws {
        let free = DispatchSemaphore(value: 0)
        let health = HealthCheck(patience: .milliseconds(20)) {
            free.wait()
            return true
        }
        #expect(await !health.isHealthy())
        #expect(await !health.isHealthy())
        free.signal()
        while await !health.isHealthy() { try Task.checkCancellation() }
    }

    /// The patience of each caller ends with the answer, not with its own time.
    @Test func anAnswerOnHealthLeavesNoTimer() async throws {
        let (timer, free) = (ScriptedTransportGate(), DispatchSemaphore(value: 0))
        let begun = Atomic(0)
        let ended = Atomic(0)
        let health = HealthCheck(
            sleep: { _ in
                begun.add(1, ordering: .relaxed)
                timer.open()
                defer { ended.add(1, ordering: .relaxed) }
                // It ends by its cancellation alone.
                try await ScriptedTransportGate().wait()
            },
            decodes: {
                free.wait()
                return true
            })
        async let first = health.isHealthy()
        async let second = health.isHealthy()
        try await timer.wait()
        free.signal()
        let answers = await [first, second]
        #expect(answers == [true, true])
        while ended.load(ordering: .relaxed) < begun.load(ordering: .relaxed) { await Task.yield() }
    }

    @Test func aHostThatSaysNothingDoesNotTakeAllTransfers() async throws {
        try await ServerFixture.run {
            $0.queue.transfers = 4
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let source = try server.serve("jpeg/baseline-420.jpg")
            for number in 0..<12 {
                var answer = ScriptedTransport.Answer.data(try ServerFixture.fixture("jpeg/baseline-420.jpg"))
                answer.headGate = gate
                try server.answer("http://silent.test/\(number)", with: answer)
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<12 {
                    group.addTask { try await server.get("/_/http://silent.test/\(number)").status }
                }
                try await server.transport.waitForRequests(2)
                #expect(try await server.get("/_/\(source)").status == 200)
                #expect(server.transport.requestCount == 3)
                #expect(server.application.transfers.statistics.working == 2)
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: 12))
            #expect(server.application.hosts?.count == 0)
        }
    }

    @Test func aHostWithTooManyRequestsIsRefused() async throws {
        try await ServerFixture.run {
            $0.queue.transfers = 4
            $0.queue.waiting = 1
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let sources = try (0..<4).map { try server.serve("jpeg/baseline-420.jpg", as: "\($0)", gate: gate) }
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for source in sources { group.addTask { try await server.get("/_/\(source)").status } }
                // Two are transferred, one waits.
                var statuses = [try await group.next()]
                try await server.transport.waitForRequests(2)
                gate.open()
                while let status = try await group.next() { statuses.append(status) }
                return statuses
            }
            #expect(answers == [503, 200, 200, 200])
            #expect(server.application.transfers.statistics.refusals == 0)
            let metrics = String(decoding: try await server.report("/metrics").body, as: UTF8.self)
            #expect(metrics.contains("\nhalcyon_server_host_queue_refusals_total 1\n"))
        }
    }

    /// A redirect takes a place at the host that it leads to.
    @Test func redirectsToOneHostAreBounded() async throws {
        try await ServerFixture.run {
            $0.queue.transfers = 8
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let first = try server.serve("jpeg/baseline-420.jpg", as: "a")
            for number in 0..<6 {
                var answer = ScriptedTransport.Answer.data(try ServerFixture.fixture("jpeg/baseline-420.jpg"))
                answer.headGate = gate
                try server.answer("http://silent.test/\(number)", with: answer)
                try server.answer(
                    "http://host\(number).test/", with: .redirect(to: "http://silent.test/\(number)"))
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<6 {
                    group.addTask { try await server.get("/_/http://host\(number).test/").status }
                }
                try await server.transport.waitForRequests(8)
                #expect(try await server.get("/_/\(first)").status == 200)
                let silent = server.transport.requests.filter { $0.url.host() == "silent.test" }
                #expect(silent.count == 2)
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: 6))
        }
    }

    @Test func originalsAreBoundedUntilTheyAreTaken() async throws {
        try await ServerFixture.run { server async throws in
            // Longer than what the kernel takes for a client that reads nothing.
            let bytes = LargePicture.bitmap(width: 4000, height: 3000)
            try server.answer("http://images.test/a.bmp", with: .data(bytes))
            let (held, path) = (server.application.sentBytes, "/original/http://images.test/a.bmp")
            do {
                let rest = try held.share((256 << 20) - bytes.count + 1)
                defer { withExtendedLifetime(rest) {} }
                let refused = try await server.get(path)
                #expect(refused.status == 503)
                #expect(refused.code == "busy")
                #expect(refused["Retry-After"] != nil)
            }
            try await until { held.count == 0 }
            let connection = try LoopbackConnection(port: server.port, receiveBuffer: 4096)
            try connection.send(LoopbackConnection.head(path))
            try await until { held.count == bytes.count }
            #expect(try await blocking { try connection.answer().body } == bytes)
            try await until { held.count == 0 }
            #expect(try await server.get(path).body == bytes)
            #expect(try await server.get(path, method: "HEAD").status == 200)
            try await until { held.count == 0 }
        }
    }

    /// A source whose server says nothing takes a place of transfers, and none of the work.
    @Test func noWorkWaitsForASource() async throws {
        try await ServerFixture.run { server async throws in
            let gate = ScriptedTransportGate()
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=600"]
            var second = ScriptedTransport.Answer.data(bytes, headers: fresh)
            second.headGate = gate
            try server.answer("http://images.test/a", with: .data(bytes, headers: fresh), second)
            #expect(try await server.get("/fit-24x24/http://images.test/a").status == 200)
            // The facts stay in memory, and the bytes are gone.
            await server.application.pipeline.cache.disk?.removeAll()
            async let answer = server.get("/fit-12x12/http://images.test/a")
            try await server.transport.waitForRequests(2)
            #expect(server.application.work.statistics.callers == 0)
            #expect(server.application.transfers.statistics.working == 1)
            gate.open()
            #expect(try await answer.status == 200)
        }
    }

    /// Bytes that the source's server wants to be asked for each time are those that were asked for.
    @Test(arguments: ["no-cache", "max-age=0", "no-store", "private, no-cache"])
    func oneTransferForOneAnswer(rule: String) async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": rule])
            #expect(try await server.get("/_/t:10/rs:fit:24:24/plain/\(source)").status == 200)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func whatIsTooMuchIsRefusedAtOnce() async throws {
        try await ServerFixture.run {
            $0.queue.transfers = 1
            $0.queue.waiting = 1
            $0.queue.waitingTime = .seconds(7)
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let first = try server.serve("jpeg/baseline-420.jpg", as: "1.jpg", gate: gate)
            let second = try server.serve("jpeg/baseline-420.jpg", as: "2.jpg")
            let third = try server.serve("jpeg/baseline-420.jpg", as: "3.jpg")
            async let one = server.get("/_/\(first)")
            try await server.transport.waitForRequests(1)
            async let two = server.get("/_/\(second)")
            try await until { server.application.transfers.statistics.waiting == 1 }
            let refused = try await server.get("/_/\(third)")
            #expect(refused.status == 503)
            #expect(refused.code == "busy")
            #expect(refused["Retry-After"] == "7")
            gate.open()
            #expect(try await one.status == 200)
            #expect(try await two.status == 200)
            #expect(server.application.transfers.statistics.refusals == 1)
        }
    }

    /// A request that would be refused behind its transfer is refused before it.
    @Test func underALastingLoadNoSourceIsAskedInVain() async throws {
        try await ServerFixture.run {
            $0.queue.pixels = 1
            $0.queue.burstTime = .zero
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let source = try server.serve("jpeg/baseline-420.jpg")
            let work = server.application.work
            let keys = try ["1", "2"].map { name in
                let url = try #require(URL(string: "http://images.test/held/\(name)"))
                return ImageService.AnswerKey(
                    image: server.application.pipeline.key(for: ImageRequest(url)), encoding: .png)
            }
            async let first: Void = work.withPlace(for: keys[0], cost: 1) { try await gate.wait() }
            try await until { work.statistics.working == 1 }
            async let second: Void = work.withPlace(for: keys[1], cost: 1) {}
            try await until { work.statistics.waiting == 1 }
            let refused = try await server.get("/fit-24x24/\(source)")
            #expect(refused.status == 503)
            #expect(refused.code == "busy")
            #expect(server.transport.requestCount == 0)
            // The source's own bytes are no work.
            #expect(try await server.get("/_/raw:1/plain/\(source)").status == 200)
            gate.open()
            _ = try await (first, second)
            #expect(try await server.get("/fit-24x24/\(source)").status == 200)
            #expect(work.statistics.refusals == 1)
        }
    }

    /// Whoever is transferred has its place already: those behind it are refused, and it is not.
    @Test func underALastingLoadATransferHasAPlace() async throws {
        try await ServerFixture.run {
            $0.queue.pixels = 1
            $0.queue.burstTime = .zero
        } _: { server async throws in
            let (gate, transfer) = (ScriptedTransportGate(), ScriptedTransportGate())
            let work = server.application.work
            let source = try server.serve("jpeg/baseline-420.jpg", gate: transfer)
            let other = try server.serve("jpeg/baseline-420.jpg", as: "b.jpg")
            let url = try #require(URL(string: "http://images.test/held"))
            let key = ImageService.AnswerKey(
                image: server.application.pipeline.key(for: ImageRequest(url)), encoding: .png)
            async let held: Void = work.withPlace(for: key, cost: 1) { try await gate.wait() }
            try await until { work.statistics.working == 1 }
            async let first = server.get("/fit-24x24/\(source)")
            try await server.transport.waitForRequests(1)
            #expect(try await server.get("/fit-24x24/\(other)").status == 503)
            #expect(server.transport.requestCount == 1)
            transfer.open()
            try await until { work.statistics.waiting == 1 }
            gate.open()
            try await held
            #expect(try await first.status == 200)
            #expect(try await server.get("/fit-24x24/\(other)").status == 200)
        }
    }

    /// The place is also that of the work which comes first: here, the look for borders.
    @Test func underALastingLoadAllWorkOfATransferHasAPlace() async throws {
        try await ServerFixture.run {
            $0.queue.pixels = 1
            $0.queue.burstTime = .zero
        } _: { server async throws in
            let (gate, transfer) = (ScriptedTransportGate(), ScriptedTransportGate())
            let work = server.application.work
            let source = try server.serve("jpeg/baseline-420.jpg", gate: transfer)
            let keys = try ["1", "2"].map { name in
                let url = try #require(URL(string: "http://images.test/held/\(name)"))
                return ImageService.AnswerKey(
                    image: server.application.pipeline.key(for: ImageRequest(url)), encoding: .png)
            }
            async let held: Void = work.withPlace(for: keys[0], cost: 1) { try await gate.wait() }
            try await until { work.statistics.working == 1 }
            async let answer = server.get("/trim-5,fit-24x24/\(source)")
            try await server.transport.waitForRequests(1)
            async let other: Void = work.withPlace(for: keys[1], cost: 1) {}
            try await until { work.statistics.waiting == 1 }
            transfer.open()
            try await until { work.statistics.waiting == 2 || work.statistics.refusals > 0 }
            gate.open()
            _ = try await (held, other)
            #expect(try await answer.status == 200)
            #expect(work.statistics.refusals == 0)
        }
    }

    /// Transfers with a host that says nothing take no room from those that would work at once.
    @Test func aHostThatSaysNothingTakesNoWorkFromOthers() async throws {
        try await ServerFixture.run {
            ($0.queue.transfers, $0.queue.pixels, $0.queue.burstTime) = (32, 1_000_000, .zero)
        } _: { server async throws in
            let (gate, silent, work) = (ScriptedTransportGate(), ScriptedTransportGate(), server.application.work)
            let source = try server.serve("jpeg/baseline-420.jpg")
            let url = try #require(URL(string: "http://images.test/held"))
            let key = ImageService.AnswerKey(
                image: server.application.pipeline.key(for: ImageRequest(url)), encoding: .png)
            async let held: Void = work.withPlace(for: key, cost: 300_000) { try await gate.wait() }
            try await until { work.statistics.working == 1 }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    var answer = ScriptedTransport.Answer.data(try ServerFixture.fixture("jpeg/baseline-420.jpg"))
                    answer.headGate = silent
                    try server.answer("http://silent.test/\(number)", with: answer)
                    group.addTask { try await server.get("/fit-24x24/http://silent.test/\(number)").status }
                }
                try await until { server.transport.requestCount == 8 || work.statistics.refusals > 0 }
                #expect(try await server.get("/fit-24x24/\(source)").status == 200)
                silent.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: 8))
            gate.open()
            try await held
            #expect(work.statistics.refusals == 0)
        }
    }

    /// Sends a request whose source's server says nothing until the gate opens, and waits until that server is asked.
    private func asking(_ server: ServerFixture, _ gate: ScriptedTransportGate) async throws -> (
        connection: LoopbackConnection, source: String
    ) {
        let source = try server.serve("jpeg/baseline-420.jpg", gate: gate)
        let connection = try LoopbackConnection(port: server.port)
        try connection.send(LoopbackConnection.head("/fit-24x24/\(source)"))
        try await server.transport.waitForRequests(1)
        return (connection, source)
    }

    @Test func aClientThatLeavesTakesItsWorkAlong() async throws {
        try await ServerFixture.run { server async throws in
            let (connection, _) = try await asking(server, ScriptedTransportGate())
            connection.leave()
            try await server.transport.waitForCancellations(1)
            try await until { server.application.transfers.statistics.working == 0 }
        }
    }

    @Test func aClientThatLeavesDisturbsNoOther() async throws {
        try await ServerFixture.run { server async throws in
            let (gate, events) = (ScriptedTransportGate(), server.application.pipeline.events)
            let (connection, source) = try await asking(server, gate)
            async let other = server.get("/fit-24x24/\(source)")
            // A load has joined the transfer of another one when it says that it has begun.
            var starts = 0
            for await event in events {
                if case .started = event.kind { starts += 1 }
                if starts == 2 { break }
            }
            #expect(server.application.transfers.statistics.callers == 2)
            connection.leave()
            try await until { server.application.transfers.statistics.callers == 1 }
            gate.open()
            #expect(try await other.status == 200)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func aConnectionServesManyRequests() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answers = try await blocking {
                let connection = try LoopbackConnection(port: server.port)
                return try ["24x24", "24x24", "12x12", "12x12"].map { size in
                    try connection.send(LoopbackConnection.head("/fit-\(size)/\(source)"))
                    return try connection.answer()
                }
            }
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(answers[0].body == answers[1].body)
            #expect(answers[2].body == answers[3].body)
        }
    }

    @Test func aClientThatTakesNothingIsLeft() async throws {
        try await ServerFixture.run {
            $0.http.writeTimeout = .milliseconds(300)
        } _: { server async throws in
            try server.answer("http://images.test/a.bmp", with: .data(LargePicture.bitmap(width: 2000, height: 2000)))
            try await blocking {
                let connection = try LoopbackConnection(port: server.port, receiveBuffer: 4096)
                try connection.send(LoopbackConnection.head("/original/http://images.test/a.bmp"))
                try connection.waitForClose()
            }
            #expect(try await server.get("/health").status == 200)
        }
    }

    @Test func aClientThatTakesItsTimeGetsEverything() async throws {
        try await ServerFixture.run { server async throws in
            let bytes = LargePicture.bitmap(width: 2000, height: 2000)
            try server.answer("http://images.test/a.bmp", with: .data(bytes))
            let answer = try await blocking {
                let connection = try LoopbackConnection(port: server.port, receiveBuffer: 4096)
                try connection.send(LoopbackConnection.head("/original/http://images.test/a.bmp"))
                return try connection.answer()
            }
            #expect(answer.body == bytes)
        }
    }

    @Test func theServerStopsAfterTheRequestsThatItHas() async throws {
        try await ServerFixture.run(signals: [.sigusr1]) { server async throws in
            let gate = ScriptedTransportGate()
            let source = try server.serve("jpeg/baseline-420.jpg", gate: gate)
            #expect(try await server.get("/ready").status == 200)
            async let answer = server.get("/fit-24x24/\(source)")
            try await server.transport.waitForRequests(1)
            kill(getpid(), SIGUSR1)
            // The port for pictures closes, while the other one tells that the server stops.
            try await until { (try? LoopbackConnection(port: server.port)) == nil }
            #expect(try await server.report("/ready").status == 503)
            #expect(try await server.report("/health").status == 200)
            gate.open()
            #expect(try await answer.status == 200)
            #expect(try await answer["Connection"] == nil)
        }
    }
}

/// The end of a server that has requests which never end.
@Suite(.serialized) struct ShutdownTests {
    @Test func theServerWaitsNoLongerThanItsLimit() async throws {
        try await ServerFixture.run(signals: [.sigusr2]) {
            $0.http.shutdownTimeout = .milliseconds(300)
        } _: { server async throws in
            let gate = ScriptedTransportGate()
            let source = try server.serve("jpeg/baseline-420.jpg", gate: gate)
            let connection = try LoopbackConnection(port: server.port)
            try connection.send(LoopbackConnection.head("/fit-24x24/\(source)"))
            try await server.transport.waitForRequests(1)
            kill(getpid(), SIGUSR2)
            try await blocking { while try !connection.receive().isEmpty {} }
            try await server.transport.waitForCancellations(1)
            #expect(!gate.isOpen)
            try await until { (try? LoopbackConnection(port: server.reports)) == nil }
        }
    }
}

/// Pictures that are longer than what a connection holds.
enum LargePicture {
    /// A BMP of 24 bits, all black.
    static func bitmap(width: Int, height: Int) -> Data {
        let count = (width * 3 + 3) / 4 * 4 * height
        return head(width: width, height: height, count) + Data(count: count)
    }

    /// A BMP of 24 bits that no format makes shorter.
    static func noise(width: Int, height: Int) -> Data {
        let count = (width * 3 + 3) / 4 * 4 * height
        var state: UInt64 = 88_172_645_463_325_252
        let words = (0..<(count + 7) / 8).map { _ -> UInt64 in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        return head(width: width, height: height, count) + words.withUnsafeBytes { Data($0.prefix(count)) }
    }

    private static func head(width: Int, height: Int, _ count: Int) -> Data {
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        var data = Data("BM".utf8)
        data += little(54 + count, 4) + little(0, 4) + little(54, 4) + little(40, 4) + little(width, 4)
        data += little(height, 4) + little(1, 2) + little(24, 2) + little(0, 4) + little(count, 4)
        return data + little(2835, 4) + little(2835, 4) + little(0, 8)
    }
}
