import Foundation
import HalcyonCache
import HalcyonSystem

extension RedisStore {
    /// Asks to be the one who makes an entry, among all processes that share the server and the prefix.
    ///
    /// A claim is a key that expires by itself after `leaseDuration`, and which its holder renews, up to `maximumClaim`. Others
    /// wait up to `claimWait`: until the entry is stored, in which case a look-up finds it; or the claim ends without, and one of
    /// them gets it. If the server fails meanwhile, each goes on alone at once.
    public func claim(_ key: CacheKey) async -> CacheClaim {
        guard !key.isPrivate else { return .alone }
        let claim = await ClaimAttempt(client, key.fileName).run()
        switch claim {
        case .granted: client.books.count(\.claimsGranted)
        case .stored: client.books.count(\.claimsStored)
        case .alone: client.books.count(\.claimsAlone)
        }
        return claim
    }
}

/// One call that asks for a claim.
private struct ClaimAttempt {
    private enum Reply {
        case granted(Lease)
        case stored
        /// Another process has claimed it, for this time at least unless it ends.
        case taken(Duration)
        case refused
    }

    private let client: RedisClient
    private let name: String
    private let end: Date

    init(_ client: RedisClient, _ name: String) {
        (self.client, self.name) = (client, name)
        end = client.clock.now + client.configuration.claimWait.seconds
    }

    func run() async -> CacheClaim {
        switch await ask() {
        case .granted(let lease): return .granted(lease.token())
        case .stored: return .stored
        case .refused: return .alone
        case .taken: break
        }
        let (channel, loop) = (client.channel(name), client.loop)
        let seat = client.waiters.join(channel) { loop.post(.subscribe(channel)) }
        defer { client.waiters.leave(seat) { loop.post(.unsubscribe(channel)) } }
        return await wait(on: seat)
    }

    /// Asks again with each event. The first is that events are heard: whatever ended before is seen by asking.
    private func wait(on seat: ClaimWaiters.Seat) async -> CacheClaim {
        var wakes = seat.wakes.makeAsyncIterator()
        var next = end
        while next > client.clock.now {
            let timer = client.waiters.startTimer(seat, until: next)
            let wake = await wakes.next()
            timer.cancel()
            switch wake {
            case .stored: return .stored
            case .gone, nil: return .alone
            case .listening, .released, .timeUp: break
            }
            guard client.books.isAsked, end > client.clock.now else { return .alone }
            switch await ask() {
            case .granted(let lease): return .granted(lease.token())
            case .stored: return .stored
            case .refused: return .alone
            case .taken(let left): next = min(client.clock.now + left.seconds, end)
            }
        }
        return .alone
    }

    private func ask() async -> Reply {
        guard !Task.isCancelled, !client.books.isRemoved(name) else { return .refused }
        let lease = Lease(client, name)
        do {
            let answer = try await client.call(
                .lookups, by: client.configuration.lookupDeadline, expecting: { $0.isInteger || $0.isBytes },
                fate: { lease.answered($0) },
                { generation throws(RedisStoreError) in try lease.claiming(in: generation) })
            switch (answer.reply, answer.reply.text) {
            case (_, "granted"): return .granted(lease)
            case (_, "stored"): return .stored
            case (.integer(-1), _): return .taken(client.configuration.lease)
            case (.integer(let left), _): return .taken(.milliseconds(max(left, 10)))
            default: return .refused
            }
        } catch {
            lease.abandon()
            return .refused
        }
    }
}
