import Foundation
import HalcyonCache
import NIOConcurrencyHelpers

/// A claim at the server, by a secret that only its holder knows.
///
/// If the caller has given up before the server's answer comes, the claim ends with the answer, so that nobody waits for it.
final class Lease: Sendable {
    private let client: RedisClient
    private let name: String
    private let secret: String
    private let state = NIOLockedValueBox(State())

    private struct State {
        var generation = 0
        var isGranted = false
        var isAbandoned = false
    }

    init(_ client: RedisClient, _ name: String) {
        (self.client, self.name) = (client, name)
        var generator = SystemRandomNumberGenerator()
        secret = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max, using: &generator), radix: 16) }.joined(
            separator: "-")
    }

    /// Returns the command that asks for the claim, with keys of a generation.
    func claiming(in generation: Int) throws(RedisStoreError) -> RedisCommand {
        state.withLockedValue { $0.generation = generation }
        let keys = [client.leaseKey(name, generation), client.entryKey(name, generation)]
        return try client.script(Scripts.claim, keys: keys, [.init(secret), milliseconds])
    }

    /// Notes the answer, whether or not somebody waits for it.
    func answered(_ outcome: Exchange.Outcome) {
        guard case .success(let replies) = outcome, replies.first?.text == "granted" else { return }
        let isAbandoned = state.withLockedValue { state in
            state.isGranted = true
            return state.isAbandoned
        }
        if isAbandoned { release() }
    }

    /// Notes that nobody waits for the answer any more.
    func abandon() {
        let isGranted = state.withLockedValue { state in
            state.isAbandoned = true
            return state.isGranted
        }
        if isGranted { release() }
    }

    /// Returns the token with whose last reference the claim ends. It is renewed meanwhile.
    func token() -> CacheClaimToken {
        let renewal = Task.detached { [self] in
            let end = client.clock.now + client.configuration.maximumClaim.seconds
            while (try? await client.clock.wait(for: client.configuration.lease / 3)) != nil,
                client.clock.now < end
            {
                guard await renew() else { return }
            }
        }
        return CacheClaimToken { [self] in
            renewal.cancel()
            release()
        }
    }

    /// Returns false if the claim has ended.
    private func renew() async -> Bool {
        let answer = try? await client.call(
            .lookups, by: client.configuration.writeDeadline, expecting: \.isInteger,
            { _ throws(RedisStoreError) in
                try client.script(Scripts.renew, keys: [key], [.init(secret), milliseconds])
            })
        return answer?.reply != .integer(0)
    }

    private func release() {
        let channel = RedisCommand.Argument(client.channel(name))
        let entry = client.entryKey(name, state.withLockedValue { $0.generation })
        client.send(.lookups, try? client.script(Scripts.release, keys: [key, entry], [.init(secret), channel]))
    }

    private var key: RedisCommand.Argument { client.leaseKey(name, state.withLockedValue { $0.generation }) }

    private var milliseconds: RedisCommand.Argument { .init(client.configuration.lease.milliseconds()) }
}
