import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

@testable import DecodeBox

/// Coders that a file has taken over: each ends its own worker in its own way, and nothing else.
@Suite(.timeLimit(.minutes(10))) struct AttackTests {
    /// The kinds of boxes that hold: with Landlock, and by the list of system calls alone.
    enum Box: String, CaseIterable {
        case usual, withoutLandlock

        func workers(timeLimit: Duration = .seconds(20)) -> DecodeWorkers {
            DecodeWorkers(
                count: 1, program: .file(Worker.attacking), timeLimit: timeLimit,
                usesLandlock: self != .withoutLandlock)
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

    @Test(.disabled(if: Sanitizer.isOn), arguments: Box.allCases)
    func eachForbiddenCallEndsTheProcess(_ box: Box) {
        let workers = box.workers()
        for attack in Attack.calls { #expect(end(of: attack, workers) == .forbiddenCall, "\(attack)") }
        #expect(workers.statistics.faults == Attack.calls.count)
    }

    /// The program and its workers as a user without rights, which needs the superuser to become one.
    @Test(.disabled(if: Sanitizer.isOn || geteuid() != 0)) func theBoxHoldsForAnOrdinaryUser() async throws {
        let program = try TestProgram(
            URL(filePath: "/usr/bin/setpriv"),
            ["--reuid=65534", "--regid=65534", "--clear-groups", Worker.attacking, "attacks", Worker.attacking],
            hasOutput: true)
        let output = try program.output?.readToEnd()
        #expect(await program.ended() == 0, "\(String(decoding: output ?? Data(), as: UTF8.self))")
    }

    @Test(
        .disabled(if: Sanitizer.isOn),
        arguments: [(Attack.stats, EPERM), (.asksTerminal, ENOTTY), (.setsAffinity, EPERM)])
    func callsThatLibrariesTryGetAnError(_ attack: Attack, _ error: Int32) {
        for box in Box.allCases {
            #expect {
                try decode(attack, box.workers())
            } throws: { $0 as? CodecError == .damaged(.attack, reason: String(cString: strerror(error))) }
        }
    }

    @Test(arguments: Box.allCases)
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

    /// A file before it may be to blame, so it is decoded once more, in a worker that has had no other.
    @Test(.disabled(if: Sanitizer.isOn)) func aFaultInAWorkerThatHadOtherFilesIsTriedAgain() throws {
        let workers = Box.usual.workers()
        _ = try decode(.draws, workers)
        #expect(end(of: .segfault, workers) == .signal(SIGSEGV))
        #expect(workers.statistics.started == 2)
        #expect(workers.statistics.faults == 2)
    }

    @Test func aCoderThatClaimsToBeCancelledIsRefused() {
        let workers = Box.usual.workers()
        guard case .invalidAnswer = end(of: .claimsCancellation, workers) else {
            Issue.record("it was believed")
            return
        }
    }

    @Test func aCoderThatTheWorkerLacksDecodesHere() throws {
        let workers = DecodeWorkers(count: 1, program: .file(Worker.path))
        _ = try decode(.draws, workers)
        #expect(workers.statistics.answers == 0 || workers.statistics.started == 1)
        #expect(workers.statistics.faults == 0)
    }
}
