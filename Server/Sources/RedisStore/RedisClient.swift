import Foundation
import HalcyonSystem
import Logging

/// The server as a store uses it: calls with keys of the present generation, and the way back after failures.
///
/// Redis cannot remove all keys of a prefix in one step. So a generation, which is a number under one key, is part of all others.
/// Each call asks for it behind its own commands, in the same packet: another process that has removed everything is noticed
/// with the next call, without a message that could be lost. The call is then repeated once.
final class RedisClient: Sendable {
    /// The answers to a call, one to each command, and the generation of its keys.
    struct Answer: Sendable {
        let replies: [RedisReply]
        let generation: Int

        /// The answer to the first command.
        var reply: RedisReply { replies.first ?? .null }
    }

    let configuration: RedisStore.Configuration
    let clock: TimeSource
    let books: StoreBooks
    let waiters: ClaimWaiters
    let loop: ConnectionLoop

    init(_ configuration: RedisStore.Configuration, clock: TimeSource, logger: Logger) {
        let books = StoreBooks(configuration, logger)
        let waiters = ClaimWaiters(clock)
        (self.configuration, self.clock, self.books, self.waiters) = (configuration, clock, books, waiters)
        loop = ConnectionLoop(
            configuration,
            ConnectionLoop.Reports(
                failed: { books.failed($0) }, listening: { waiters.listening($0) },
                heard: { waiters.heard($0, $1) }, deaf: { waiters.deaf() }))
        let signals = books.signals
        Task.detached { [weak self] in
            for await _ in signals {
                while let delay = self?.books.recoveryDelay, (try? await clock.wait(for: delay)) != nil {
                    await self?.recover()
                }
            }
        }
    }

    deinit { books.shutDown() }

    // MARK: Names

    func entryKey(_ name: String, _ generation: Int) -> RedisCommand.Argument {
        "\(configuration.prefix):v1:\(generation):\(name)"
    }

    func leaseKey(_ name: String, _ generation: Int) -> RedisCommand.Argument {
        "\(configuration.prefix):lease:\(generation):\(name)"
    }

    func channel(_ name: String) -> String { "\(configuration.prefix):claims:\(name)" }

    private var generationKey: RedisCommand.Argument { "\(configuration.prefix):generation" }

    // MARK: Calls

    /// Sends a command with keys of the present generation, and returns the answer; see `calls`.
    func call(
        _ lane: ConnectionLoop.Lane, by deadline: ContinuousClock.Instant, expecting isExpected: (RedisReply) -> Bool,
        fate: (@Sendable (Exchange.Outcome) -> Void)? = nil,
        _ command: (Int) throws(RedisStoreError) -> RedisCommand
    ) async throws -> Answer {
        try await calls(lane, by: deadline, expecting: isExpected, fate: fate) { generation throws(RedisStoreError) in
            [try command(generation)]
        }
    }

    /// Sends commands with keys of the present generation in one packet, and returns the answers. The server carries them out in
    /// their order.
    ///
    /// - Parameters:
    ///   - isExpected: whether an answer that is no error is one to these commands.
    ///   - fate: called once for each time that they are sent; a success has keys of the present generation.
    ///   - commands: returns the commands for a generation; called again if that was not the present one.
    /// - Throws: `RedisStoreError`, also for an error that is a failure of the server; other errors are answers.
    func calls(
        _ lane: ConnectionLoop.Lane, by deadline: ContinuousClock.Instant, expecting isExpected: (RedisReply) -> Bool,
        fate: (@Sendable (Exchange.Outcome) -> Void)? = nil,
        _ commands: (Int) throws(RedisStoreError) -> [RedisCommand]
    ) async throws -> Answer {
        for _ in 0..<3 {
            let generation = try books.generation()
            let sent = try commands(generation) + [generationQuestion()]
            let exchange = try exchange(sent, lane, generation, by: deadline, fate: fate)
            var replies = try await exchange.replies { [loop] in loop.post(.send(exchange, lane)) }
            guard replies.count == sent.count, let last = replies.popLast() else {
                throw RedisStoreError.malformed(command: exchange.name)
            }
            for reply in replies { try check(reply, to: exchange.name, isExpected) }
            try check(last, to: "GET", Self.isGeneration)
            books.succeeded()
            let present = Self.generation(last)
            if present == generation { return Answer(replies: replies, generation: generation) }
            if present < generation { try await raise(to: generation, by: deadline) } else { books.learn(present) }
        }
        throw RedisStoreError.busy
    }

    private func generationQuestion() throws(RedisStoreError) -> RedisCommand { try RedisCommand("GET", generationKey) }

    /// Makes an exchange whose last command asks for the generation.
    ///
    /// - Throws: `RedisStoreError.busy` if it is a write for which there is no room in the queue.
    private func exchange(
        _ commands: [RedisCommand], _ lane: ConnectionLoop.Lane, _ generation: Int,
        by deadline: ContinuousClock.Instant,
        fate: (@Sendable (Exchange.Outcome) -> Void)?
    ) throws(RedisStoreError) -> Exchange {
        let (books, count) = (books, lane == .writes ? commands.reduce(0) { $0 + $1.bytes.count } : 0)
        if count == 0, fate == nil { return Exchange(commands, by: deadline) }
        try books.queue(count, limit: configuration.maximumQueuedBytes)
        return Exchange(commands, by: deadline) { outcome in
            books.unqueue(count)
            fate?(
                outcome.flatMap { replies in
                    let isPresent = replies.last.map { Self.generation($0) == generation } ?? false
                    return isPresent ? .success(replies.dropLast()) : .failure(.busy)
                })
        }
    }

    /// Sends commands whose answers nobody waits for.
    func send(_ lane: ConnectionLoop.Lane, _ command: RedisCommand?) {
        guard let command, books.isAsked else { return }
        loop.post(.send(Exchange([command], by: configuration.writeDeadline), lane))
    }

    /// Returns a command that runs a script.
    func script(
        _ script: String, keys: [RedisCommand.Argument], _ arguments: [RedisCommand.Argument]
    ) throws(RedisStoreError) -> RedisCommand {
        try RedisCommand("EVAL", [RedisCommand.Argument(script), RedisCommand.Argument(keys.count)] + keys + arguments)
    }

    /// Throws if an answer is a failure of the server.
    private func check(
        _ reply: RedisReply, to command: String, _ isExpected: (RedisReply) -> Bool
    ) throws(RedisStoreError) {
        if case .error(let code) = reply {
            if RedisStoreError.isFailure(code: code) { throw failed(.refused(command: command, code: code)) }
        } else if !isExpected(reply) {
            throw failed(.malformed(command: command))
        }
    }

    /// Notes a failure that only an answer's meaning shows, and returns it.
    func failed(_ error: RedisStoreError) -> RedisStoreError {
        if books.failed(error) { loop.post(.disconnect) }
        return error
    }

    // MARK: Generations

    /// The generation that an answer tells. None, or a value of another program, is the first.
    private static func generation(_ reply: RedisReply) -> Int {
        guard let number = reply.text.flatMap({ Int($0) }), (0...(1 << 52)).contains(number) else { return 0 }
        return number
    }

    private static func isGeneration(_ reply: RedisReply) -> Bool { reply.isBytes || reply == .null }

    /// Raises the server's generation, which it has lost: it has been emptied, or started again with former data.
    private func raise(to generation: Int, by deadline: ContinuousClock.Instant) async throws {
        let exchange = Exchange([try raising(to: generation, step: 0)], by: deadline)
        let replies = try await exchange.replies { [loop] in loop.post(.send(exchange, .writes)) }
        guard let reply = replies.first else { throw RedisStoreError.malformed(command: exchange.name) }
        try check(reply, to: exchange.name, Self.isGeneration)
        if case .error(let code) = reply { throw RedisStoreError.refused(command: exchange.name, code: code) }
        books.learn(Self.generation(reply))
    }

    private func raising(to generation: Int, step: Int) throws(RedisStoreError) -> RedisCommand {
        try script(
            Scripts.raise, keys: [generationKey], [RedisCommand.Argument(generation), RedisCommand.Argument(step)])
    }

    // MARK: Removals

    /// Returns the exchange that removes entries; nil if the server is not asked now, and they remain to be removed.
    func removal(of removals: [String: Int]) -> Exchange? {
        let books = books
        do throws(RedisStoreError) {
            let generation = try books.generation()
            let keys = removals.keys.map { entryKey($0, generation) }
            let commands = [try RedisCommand("UNLINK", keys), try generationQuestion()]
            return try exchange(commands, .writes, generation, by: configuration.writeDeadline) { outcome in
                books.end(removals, isConfirmed: (try? outcome.get())?.first?.isInteger == true)
            }
        } catch {
            books.end(removals, isConfirmed: false)
            return nil
        }
    }

    /// Sends removals and waits for the answer.
    func remove(_ removals: [String: Int]) async {
        guard let exchange = removal(of: removals) else { return }
        let replies = try? await exchange.replies { [loop] in loop.post(.send(exchange, .writes)) }
        if let present = replies?.last { books.learn(Self.generation(present)) }
    }

    /// Sends the removal of everything and waits for the answer.
    func clear(_ number: Int) async {
        let books = books
        guard books.isAsked, let command = try? raising(to: books.withState { $0.generation }, step: 1) else {
            return books.endClearing(number, generation: nil)
        }
        let exchange = Exchange([command], by: configuration.writeDeadline) { outcome in
            let reply = (try? outcome.get())?.first
            books.endClearing(number, generation: reply?.isBytes == true ? reply.map { Self.generation($0) } : nil)
        }
        _ = try? await exchange.replies { [loop] in loop.post(.send(exchange, .writes)) }
    }

    // MARK: The way back

    /// Asks a suspended server whether it answers again, and sends the removals that it does not know.
    private func recover() async {
        if !books.isAsked {
            let isBack = await probe()
            books.probed(succeeded: isBack)
            guard isBack else { return loop.post(.disconnect) }
        }
        if let number = books.withState({ $0.removals.takeUnsentClearing() }) { await clear(number) }
        while books.isAsked {
            let removals = books.withState { $0.removals.takeUnsent(atMost: 500) }
            guard !removals.isEmpty else { return }
            await remove(removals)
            guard removals.allSatisfy({ !books.isRemoved($0.key) }) else { return }
        }
    }

    private func probe() async -> Bool {
        guard let command = try? generationQuestion() else { return false }
        let deadline = configuration.connectDeadline + configuration.lookupTimeout.forCalls
        let exchange = Exchange([command], by: deadline)
        let replies = try? await exchange.replies { [loop] in loop.post(.send(exchange, .writes)) }
        switch replies?.first {
        case .bytes, .null, .error(code: "WRONGTYPE"): return true
        default: return false
        }
    }
}
