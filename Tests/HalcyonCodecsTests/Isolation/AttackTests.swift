import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

@testable import DecodeBox

/// Coders that a file has taken over: each ends its own worker in its own way, and nothing else.
@Suite(.timeLimit(.minutes(10))) struct AttackTests {
    /// The kinds of boxes that hold: as this user, as another one, and by the list of system calls alone.
    enum Box: String, CaseIterable {
        case usual, ordinaryUser, withoutLandlock

        static let possible = allCases.filter { $0 != .ordinaryUser || (geteuid() == 0 && OrdinaryUser.path != nil) }

        func workers(timeLimit: Duration = .seconds(20)) -> DecodeWorkers {
            let path = self == .ordinaryUser ? OrdinaryUser.path ?? "" : Worker.attacking
            return DecodeWorkers(
                count: 1, program: .file(path), timeLimit: timeLimit, usesLandlock: self != .withoutLandlock)
        }
    }

    private func decode(_ attack: Attack, _ workers: DecodeWorkers, context: WorkContext = .uncancellable) throws
        -> Image
    {
        let registry = CoderRegistry([AttackCoder()])
        let options = DecodeOptions(isolation: .isolated(workers: workers))
        return try registry.decode(attack.file, options: options, context: context)
    }

    private func end(of attack: Attack, _ workers: DecodeWorkers) -> DecodeStop? {
        do {
            _ = try decode(attack, workers)
            Issue.record("\(attack) made an image")
        } catch CodecError.stopped(let format, let stop) {
            #expect(format == .attack)
            return stop
        } catch {
            Issue.record("\(attack): \(error)")
        }
        return nil
    }

    private static let calls: [Attack] = [
        .opens, .writesFile, .connects, .listens, .executes, .forks, .kills, .traces, .mapsCode, .makesCode,
        .sharesMemory,
        .unlinks, .becomesRoot, .raisesLimits, .waitsForOthers, .changesDescriptor, .sendsSignalToParent,
    ]

    /// A sanitizer handles signals of faults itself, and ends the process with a status of its own.
    @Test(
        .disabled(if: Sanitizer.isOn),
        arguments: [
            (Attack.segfault, [SIGSEGV]), (.abort, [SIGABRT]), (.trap, [SIGILL, SIGTRAP]), (.overflowsStack, [SIGSEGV]),
            (.writesPastTheResult, [SIGSEGV]), (.allocates, [SIGABRT, SIGSEGV]),
        ])
    func aFaultEndsByItsSignal(_ attack: Attack, _ signals: [Int32]) throws {
        let workers = Box.usual.workers()
        let stop = try #require(end(of: attack, workers))
        #expect(signals.map(DecodeStop.signal).contains(stop))
        #expect(workers.statistics.faults == 1)
        // The next image has another worker.
        #expect(try decode(.draws, workers).size == AttackCoder.size)
        #expect(workers.statistics.started == 2)
    }

    @Test func anExitEndsByItsStatus() {
        #expect(end(of: .exit, Box.usual.workers()) == .exited(7))
    }

    @Test(arguments: [Attack.loops, .sleeps])
    func workWithoutEndIsEnded(_ attack: Attack) {
        let limit = Duration.milliseconds(300)
        #expect(end(of: attack, Box.usual.workers(timeLimit: limit)) == .timeLimit(limit))
    }

    @Test(.disabled(if: Sanitizer.isOn), arguments: Box.possible)
    func eachForbiddenCallEndsTheProcess(_ box: Box) {
        let workers = box.workers()
        for attack in Self.calls { #expect(end(of: attack, workers) == .forbiddenCall, "\(attack)") }
        #expect(workers.statistics.faults == Self.calls.count)
    }

    @Test(
        .disabled(if: Sanitizer.isOn),
        arguments: [(Attack.stats, EPERM), (.asksTerminal, ENOTTY), (.setsAffinity, EPERM)])
    func callsThatLibrariesTryGetAnError(_ attack: Attack, _ error: Int32) {
        for box in Box.possible {
            #expect {
                try decode(attack, box.workers())
            } throws: { $0 as? CodecError == .damaged(.attack, reason: String(cString: strerror(error))) }
        }
    }

    @Test(arguments: Box.possible)
    func theBoxLeavesADecodeItsThreads(_ box: Box) throws {
        let workers = box.workers()
        #expect(try decode(.draws, workers).bitmap.pixel(x: 3, y: 3)?.alpha == 255)
        #expect(try decode(.startsThread, workers).size == AttackCoder.size)
        #expect(workers.statistics.started == 1)
    }

    @Test func aCancelledDecodeThatListensKeepsItsWorker() throws {
        let workers = Box.usual.workers()
        _ = try decode(.draws, workers)
        let watch = Stopwatch()
        #expect(throws: CancellationError.self) {
            try decode(.drawsSlowly, workers, context: WorkContext { watch.elapsed > .milliseconds(50) })
        }
        #expect(workers.statistics.workers == 1)
        _ = try decode(.draws, workers)
        #expect(workers.statistics.started == 1)
    }

    @Test func aCancelledDecodeThatDoesNotListenLosesItsWorker() throws {
        let workers = Box.usual.workers()
        _ = try decode(.draws, workers)
        let watch = Stopwatch()
        #expect(throws: CancellationError.self) {
            try decode(.loops, workers, context: WorkContext { watch.elapsed > .milliseconds(50) })
        }
        #expect(workers.statistics.workers == 0)
        #expect(workers.statistics.cancellations == 1)
        _ = try decode(.draws, workers)
    }

    @Test func aCoderThatTheWorkerLacksDecodesHere() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        _ = try decode(.draws, workers)
        #expect(workers.statistics.answers == 0 || workers.statistics.started == 1)
        #expect(workers.statistics.faults == 0)
    }
}

/// A program that starts the attacking worker as a user without rights.
private enum OrdinaryUser {
    static let path: String? = {
        let file = folder.url.appending(path: "as-nobody")
        let script = "#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups '\(Worker.attacking)'\n"
        do {
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            try Data(script.utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: file.path(percentEncoded: false))
        } catch {
            return nil
        }
        return file.path(percentEncoded: false)
    }()

    private static let folder = TemporaryFolder()
}
