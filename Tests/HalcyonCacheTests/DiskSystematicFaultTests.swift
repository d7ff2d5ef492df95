import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

/// Each call that the cache makes fails once, one after the other.
@Suite(.timeLimit(.minutes(5))) struct DiskSystematicFaultTests {
    private static let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil
    /// The values that each key may have, before and after.
    private let old = Data(repeating: 1, count: 5000)
    private let new = Data(repeating: 2, count: 5000)

    private struct Keys {
        let stored = DiskFixture.key(0)
        let staged = DiskFixture.key(1)
        let updated = DiskFixture.key(2)
        let kept = DiskFixture.key(3)
        let removed = DiskFixture.key(4)
        let expired = DiskFixture.key(5)
        let trimmed = DiskFixture.key(6)
        let fresh = DiskFixture.key(7)
    }

    private let keys = Keys()

    private struct Outcome {
        var isStored = false
        var isStaged = false
        var isUpdated: Bool?
    }

    @Test(arguments: FileOperation.allCases, isSoak ? [EIO, ENOSPC] : [EIO])
    func theNthCallFails(operation: FileOperation, code: Int32) async throws {
        // A scan lists 256 folders: some of them stand for all.
        let step = operation == .list && !Self.isSoak ? 211 : 1
        var call = 1
        var reached = true
        while reached {
            reached = try await round(operation, call, code)
            call += step
        }
        // All of them are called at least once.
        #expect(call > 2)
    }

    /// - Returns: whether there was such a call.
    private func round(_ operation: FileOperation, _ call: Int, _ code: Int32) async throws -> Bool {
        let fixture = DiskFixture {
            $0.sizeLimit = nil
            $0.synchronization = .full
            $0.mappedReads = 4096
        }
        try await prepare(fixture)
        let before = fixture.files.calls(of: operation)
        fixture.files.fail(operation, call: call, with: code)
        let outcome = await work(fixture)
        let reached = fixture.files.calls(of: operation) - before >= call
        fixture.files.failNothing()
        try await check(fixture, outcome, operation, "\(operation) \(call), error \(code)")
        return reached
    }

    private func prepare(_ fixture: DiskFixture) async throws {
        try await fixture.cache.store(old, for: keys.trimmed)
        fixture.clock.advance(by: .seconds(600))
        for key in [keys.stored, keys.staged, keys.updated, keys.kept, keys.removed] {
            try await fixture.cache.store(old, metadata: Data([1]), for: key)
        }
        try await fixture.cache.store(old, for: keys.expired, expiration: .seconds(1))
        await fixture.cache.trimIfNeeded()
        fixture.clock.advance(by: .seconds(60))
    }

    private func work(_ fixture: DiskFixture) async -> Outcome {
        var outcome = Outcome()
        let cache = fixture.cache
        outcome.isStored = (try? await cache.store(new, for: keys.stored)) != nil
        let failed = cache.statistics.failedWrites
        await cache.stage(new, for: keys.staged)
        await cache.flush()
        outcome.isStaged = cache.statistics.failedWrites == failed
        outcome.isUpdated = try? await cache.updateMetadata(Data([2]), for: keys.updated)
        // In the midst of it a read finds the entry or none.
        let found = await cache.entry(for: keys.kept)
        #expect(found == nil || found?.data == old)
        _ = await cache.entries()
        await cache.remove(keys.removed)
        await cache.removeExpired()
        await cache.trim(to: 5 * 5400)
        // A folder that is not there yet.
        try? await cache.store(new, for: keys.fresh)
        await cache.trimIfNeeded()
        return outcome
    }

    private func check(
        _ fixture: DiskFixture, _ outcome: Outcome, _ operation: FileOperation, _ comment: Comment
    ) async throws {
        let cache = fixture.secondCache()
        // A confirmed write is there; an unconfirmed one has left the old entry only where even unlink failed.
        let stored = await cache.entry(for: keys.stored)?.data
        let staged = await cache.entry(for: keys.staged)?.data
        for (data, isWritten) in [(stored, outcome.isStored), (staged, outcome.isStaged)] {
            if isWritten {
                #expect(data == new, comment)
            } else {
                #expect(data == nil || operation == .unlink, comment)
            }
        }
        let updated = await cache.entry(for: keys.updated)
        switch outcome.isUpdated {
        case true?: #expect(updated?.metadata == Data([2]), comment)
        case false?: #expect(updated?.metadata == Data([1]), comment)
        case nil: #expect(updated?.metadata == Data([1]) || operation == .synchronizeFolder && updated == nil, comment)
        }
        #expect(updated == nil || updated?.data == old, comment)
        #expect(await cache.entry(for: keys.kept)?.data == old, comment)
        #expect(await cache.entry(for: keys.expired) == nil, comment)
        let removed = await cache.entry(for: keys.removed)?.data
        #expect(removed == nil || removed == old && [.status, .unlink].contains(operation), comment)
        let trimmed = await cache.entry(for: keys.trimmed)?.data
        #expect(trimmed == nil || trimmed == old, comment)
        let temporaries = fixture.allFiles().filter { $0.contains(".halcyon-") }
        #expect(temporaries.isEmpty || operation == .unlink && temporaries.count == 1, comment)
        // And it works as before, for the one that met the failure too.
        try await fixture.cache.store(old, for: keys.fresh)
        #expect(await fixture.cache.entry(for: keys.fresh)?.data == old, comment)
        #expect(await fixture.cache.size() == fixture.cache.estimatedSize, comment)
        #expect(await fixture.cache.removeAll().entries > 0, comment)
        #expect(await fixture.cache.count() == 0, comment)
    }
}
