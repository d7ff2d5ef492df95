import Foundation
import Glibc

/// One connection to the server, of the loop's thread: commands go out in their order, and answers come back in the same.
///
/// A caller that gives up leaves its place in the line, and the answer that comes for it later is dropped. A connection whose
/// first answer is a second later than its caller waited is closed.
final class RedisConnection {
    /// The commands for which a connection is.
    enum Role { case lookups, writes, events }

    /// The state of a connection; one that is not open yet has a time at which that has failed.
    enum Phase {
        case closed
        case connecting(until: ContinuousClock.Instant)
        case greeting(until: ContinuousClock.Instant)
        case open
    }

    /// A place in the line of answers.
    private enum Place {
        case greeting(Greeting.Step)
        case exchange(Exchange, replies: [RedisReply], isLate: Bool)
    }

    static let maximumLine = 1000
    /// The time that a late answer has before the connection is closed.
    private static let patience = Duration.seconds(1)

    let role: Role
    private let configuration: RedisStore.Configuration
    private(set) var phase = Phase.closed
    private(set) var descriptor: Int32 = -1
    private var reader: ReplyReader?
    private var greeting: Greeting
    private var output: [RedisCommand] = []
    private var outputOffset = 0
    private var waiting: [Exchange] = []
    private var line: [Place] = []

    init(_ role: Role, _ configuration: RedisStore.Configuration) {
        (self.role, self.configuration) = (role, configuration)
        greeting = Greeting(configuration, isForWrites: role == .writes)
    }

    /// The number of exchanges that are not over.
    var load: Int { line.count + waiting.count }
    var isOpen: Bool { if case .open = phase { true } else { false } }
    var isClosed: Bool { if case .closed = phase { true } else { false } }
    var hasOutput: Bool { !output.isEmpty }

    // MARK: Opening and closing

    func beginConnecting(until deadline: ContinuousClock.Instant) { phase = .connecting(until: deadline) }

    /// Takes a connected socket, and greets the server.
    func connected(_ descriptor: Int32) throws(RedisStoreError) {
        guard case .connecting(let deadline) = phase else {
            Glibc.close(descriptor)
            return
        }
        self.descriptor = descriptor
        let limit = role == .lookups ? configuration.entryLimit : 0
        reader = ReplyReader(maximumBytes: limit + 65_536, allowsLists: role == .events)
        guard reader != nil else { throw .busy }
        phase = .greeting(until: deadline)
        for (step, command) in try greeting.commands() {
            line.append(.greeting(step))
            output.append(command)
        }
        try openIfGreeted()
    }

    private func openIfGreeted() throws(RedisStoreError) {
        guard case .greeting = phase, line.isEmpty else { return }
        phase = .open
        for command in try greeting.fences() {
            line.append(.greeting(.fence))
            output.append(command)
        }
        let exchanges = waiting
        waiting = []
        for exchange in exchanges where !exchange.isAbandoned { issue(exchange) }
    }

    /// Closes the connection; whatever is under way fails. An open one opens again with the next exchange.
    func close(_ error: RedisStoreError) {
        if descriptor >= 0 { Glibc.close(descriptor) }
        (descriptor, phase) = (-1, .closed)
        reader = nil
        let (places, exchanges) = (line, waiting)
        (line, waiting, output, outputOffset) = ([], [], [], 0)
        var isUnanswered = false
        for case .exchange(let exchange, _, _) in places {
            isUnanswered = true
            exchange.end(.failure(error))
        }
        greeting.closed(isUnanswered: isUnanswered)
        for exchange in exchanges { exchange.end(.failure(error)) }
    }

    // MARK: Sending

    /// Sends commands, once the connection is open.
    func send(_ exchange: Exchange) {
        guard load < Self.maximumLine else { return exchange.end(.failure(.busy)) }
        if isOpen { issue(exchange) } else { waiting.append(exchange) }
    }

    private func issue(_ exchange: Exchange) {
        line.append(.exchange(exchange, replies: [], isLate: false))
        output.append(contentsOf: exchange.commands)
    }

    /// Sends a command whose answers `receive` passes on.
    func send(onChannels command: RedisCommand) { output.append(command) }

    /// Sends as much as there is room for, up to 64 commands with one call of the system.
    func flush() throws(RedisStoreError) {
        while descriptor >= 0, !output.isEmpty {
            var parts = output.prefix(64).map(\.bytes)
            parts[0] = UnsafeRawBufferPointer(rebasing: parts[0][outputOffset...])
            switch RedisSocket.send(descriptor, parts) {
            case .moved(let count):
                outputOffset += count
                var sent = 0
                while sent < output.count, outputOffset >= output[sent].bytes.count {
                    outputOffset -= output[sent].bytes.count
                    sent += 1
                }
                output.removeFirst(sent)
            case .wouldBlock: return
            case .ended(let code): throw ended(code)
            }
        }
    }

    // MARK: Receiving

    /// Receives what is there, up to 1 MiB.
    ///
    /// - Returns: the answers that are nobody's, of channels.
    func receive(_ buffer: UnsafeMutableRawBufferPointer) throws(RedisStoreError) -> [RedisReply] {
        var messages: [RedisReply] = []
        for _ in 0..<max(1, (1 << 20) / buffer.count) {
            switch RedisSocket.receive(descriptor, into: buffer) {
            case .moved(let count):
                try answer(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &messages)
                if count < buffer.count { return messages }
            case .wouldBlock: return messages
            case .ended(let code): throw ended(code)
            }
        }
        return messages
    }

    private func answer(_ bytes: UnsafeRawBufferPointer, _ messages: inout [RedisReply]) throws(RedisStoreError) {
        do throws(ReplyReader.Malformed) {
            try reader?.feed(bytes)
        } catch { throw .malformed(command: nextCommand) }
        while let reply = try nextReply() {
            if role == .events, case .open = phase {
                messages.append(reply)
                continue
            }
            guard let place = line.first else { throw .malformed(command: nextCommand) }
            try answer(place, with: reply)
        }
    }

    private func nextReply() throws(RedisStoreError) -> RedisReply? {
        do throws(ReplyReader.Malformed) {
            return try reader?.next()
        } catch { throw .malformed(command: nextCommand) }
    }

    private func answer(_ place: Place, with reply: RedisReply) throws(RedisStoreError) {
        switch place {
        case .greeting(let step):
            line.removeFirst()
            try greeting.answered(step, reply)
            try openIfGreeted()
        case .exchange(let exchange, let replies, let isLate):
            let replies = replies + [reply]
            if replies.count == exchange.commands.count {
                line.removeFirst()
                exchange.end(.success(replies))
            } else {
                line[0] = .exchange(exchange, replies: replies, isLate: isLate)
            }
        }
    }

    /// The command whose answer is next, for errors.
    private var nextCommand: String {
        switch line.first {
        case .exchange(let exchange, let replies, _): exchange.commands[replies.count].name
        case .greeting(let step): step.rawValue
        default: role == .events ? "SUBSCRIBE" : "nothing"
        }
    }

    private func ended(_ code: Int32) -> RedisStoreError {
        .unreachable("\(configuration.address)", reason: String(cString: strerror(code)))
    }

    // MARK: Time

    /// The time at which `expire` has something to do.
    var nextDeadline: ContinuousClock.Instant? {
        var next = waiting.lazy.map(\.deadline).min()
        func note(_ deadline: ContinuousClock.Instant) { next = min(next ?? deadline, deadline) }
        switch phase {
        case .connecting(let deadline), .greeting(let deadline): note(deadline)
        case .open, .closed: break
        }
        for (index, place) in line.enumerated() {
            guard case .exchange(let exchange, _, let isLate) = place else { continue }
            if index == 0 { note(exchange.deadline + Self.patience) }
            if !isLate { note(exchange.deadline) }
        }
        return next
    }

    /// Lets callers go whose time is over.
    ///
    /// - Parameter failed: called with each failure, before its caller goes on.
    /// - Throws: the error with which the connection is to be closed.
    func expire(_ now: ContinuousClock.Instant, failed: (RedisStoreError) -> Void) throws(RedisStoreError) {
        for (index, place) in line.enumerated() {
            guard case .exchange(let exchange, let replies, false) = place, exchange.deadline <= now else { continue }
            line[index] = .exchange(exchange, replies: replies, isLate: true)
            exchange.giveUp(.timedOut(command: exchange.name), failed: failed)
        }
        for exchange in waiting where exchange.deadline <= now {
            let error = RedisStoreError.timedOut(command: exchange.name)
            exchange.giveUp(error, failed: failed)
            exchange.end(.failure(error))
        }
        waiting.removeAll { $0.deadline <= now }
        switch phase {
        case .connecting(let deadline) where deadline <= now, .greeting(let deadline) where deadline <= now:
            throw .unreachable("\(configuration.address)", reason: "no connection in time")
        default: break
        }
        if case .exchange(let exchange, _, _) = line.first, exchange.deadline + Self.patience <= now {
            throw .timedOut(command: exchange.name)
        }
    }
}
