import Glibc

/// The state of a loop, which belongs to its thread.
final class LoopThread {
    private let configuration: RedisStore.Configuration
    private let reports: ConnectionLoop.Reports
    private let mailbox: Mailbox
    private let connections: [RedisConnection]
    /// The connections whose connecting threads have not ended; each has one at most, however long a name takes to be resolved.
    private var connecting: Set<Int> = []
    /// The channels that are subscribed to, or will be.
    private var channels: Set<String> = []
    /// The number of confirmations that are due for each channel. One that was left and joined again is heard after the last.
    private var unconfirmed: [String: Int] = [:]
    private var stopping: (deadline: ContinuousClock.Instant, done: @Sendable (Bool) -> Void)?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    private static let writes = 0
    private static let events = 1
    private static let firstLookups = 2

    init(
        _ configuration: RedisStore.Configuration, _ reports: ConnectionLoop.Reports, _ mailbox: Mailbox
    ) {
        (self.configuration, self.reports, self.mailbox) = (configuration, reports, mailbox)
        let lookups = min(max(configuration.connections, 1), 64)
        let roles: [RedisConnection.Role] = [.writes, .events] + Array(repeating: .lookups, count: lookups)
        connections = roles.map { RedisConnection($0, configuration) }
    }

    deinit { buffer.deallocate() }

    /// Runs until a message ends it.
    func run() {
        while true {
            for message in mailbox.take() { handle(message) }
            for index in connections.indices { flush(index) }
            if isOver { break }
            wait()
            expire()
        }
        mailbox.close()
    }

    // MARK: Messages

    private func handle(_ message: ConnectionLoop.Message) {
        switch message {
        case .send(let exchange, .writes): send(exchange, Self.writes)
        case .send(let exchange, .lookups): send(exchange, idlest)
        case .connected(let index, let result):
            connecting.remove(index)
            connected(index, result)
        case .subscribe(let channel): subscribe(channel)
        case .unsubscribe(let channel):
            guard channels.remove(channel) != nil, connections[Self.events].isOpen else { return }
            sendOnChannels("UNSUBSCRIBE", channel)
        case .disconnect: disconnect(.suspended)
        case .stop(let deadline, let done): stopping = (deadline, done)
        }
    }

    /// The first connection for look-ups that waits for nothing, else the one that waits for the least.
    private var idlest: Int {
        let indices = connections.indices[Self.firstLookups...]
        return indices.min { connections[$0].load < connections[$1].load } ?? Self.firstLookups
    }

    private func send(_ exchange: Exchange, _ index: Int) {
        connections[index].send(exchange)
        connect(index)
    }

    // MARK: Connecting

    private func connect(_ index: Int) {
        guard connections[index].isClosed else { return }
        let deadline = configuration.connectDeadline
        connections[index].beginConnecting(until: deadline)
        guard connecting.insert(index).inserted else { return }
        let (address, mailbox) = (configuration.address, mailbox)
        let isStarted = DedicatedThread.start(name: "redis-connect") {
            let result = Result { () throws(RedisStoreError) in try RedisSocket.connect(to: address, by: deadline) }
            mailbox.post(.connected(index, result))
        }
        if !isStarted { mailbox.post(.connected(index, .failure(.busy))) }
    }

    private func connected(_ index: Int, _ result: Result<Int32, RedisStoreError>) {
        do throws(RedisStoreError) {
            switch result {
            case .success(let descriptor):
                try connections[index].connected(descriptor)
                if index == Self.events, connections[index].isOpen { subscribeAll() }
            case .failure(let error):
                if case .connecting = connections[index].phase { throw error }
            }
        } catch { close(index, error) }
    }

    /// Closes a connection because of an error, which is a failure of the server unless it has ended while nothing was under way.
    private func close(_ index: Int, _ error: RedisStoreError) {
        let isNeeded = connections[index].load > 0 || (index == Self.events && !channels.isEmpty)
        var isIdle = false
        if case .unreachable = error { isIdle = connections[index].isOpen && !isNeeded }
        // Counted before its callers go on.
        let suspends = !isIdle && reports.failed(error)
        connections[index].close(error)
        if index == Self.events { forgetChannels() }
        if suspends { disconnect(error) }
    }

    private func disconnect(_ error: RedisStoreError) {
        for connection in connections { connection.close(error) }
        forgetChannels()
    }

    // MARK: Channels

    private func subscribe(_ channel: String) {
        channels.insert(channel)
        if connections[Self.events].isOpen { sendSubscribe(channel) } else { connect(Self.events) }
    }

    private func subscribeAll() {
        for channel in channels { sendSubscribe(channel) }
    }

    private func sendSubscribe(_ channel: String) {
        unconfirmed[channel, default: 0] += 1
        sendOnChannels("SUBSCRIBE", channel)
    }

    private func sendOnChannels(_ name: String, _ channel: String) {
        do throws(RedisStoreError) {
            connections[Self.events].send(onChannels: try RedisCommand(name, RedisCommand.Argument(channel)))
        } catch { close(Self.events, error) }
    }

    private func forgetChannels() {
        (channels, unconfirmed) = ([], [:])
        reports.deaf()
    }

    private func handle(event: RedisReply) throws(RedisStoreError) {
        guard case .list(let parts) = event, parts.count == 3, let channel = parts[1].text else {
            guard case .error(let code) = event else { throw .malformed(command: "SUBSCRIBE") }
            throw .refused(command: "SUBSCRIBE", code: code)
        }
        switch parts[0].text {
        case "subscribe":
            let due = (unconfirmed[channel] ?? 1) - 1
            unconfirmed[channel] = due > 0 ? due : nil
            if due <= 0, channels.contains(channel) { reports.listening(channel) }
        case "message": if let message = parts[2].text { reports.heard(channel, message) }
        default: break
        }
    }

    // MARK: Transfers

    private func flush(_ index: Int) {
        do throws(RedisStoreError) { try connections[index].flush() } catch { close(index, error) }
    }

    private func receive(_ index: Int) {
        do throws(RedisStoreError) {
            let wasOpen = connections[index].isOpen
            for event in try connections[index].receive(buffer) { try handle(event: event) }
            if index == Self.events, !wasOpen, connections[index].isOpen { subscribeAll() }
        } catch { close(index, error) }
    }

    /// Waits for answers, room, messages or the next deadline, and receives what has come.
    private func wait() {
        var descriptors = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
        for connection in connections {
            let events = POLLIN | (connection.hasOutput ? POLLOUT : 0)
            descriptors.append(pollfd(fd: connection.descriptor, events: Int16(events), revents: 0))
        }
        let deadlines = connections.compactMap(\.nextDeadline) + (stopping.map { [$0.deadline] } ?? [])
        let timeout = deadlines.min().map { Int32(clamping: ($0 - .now).milliseconds(atLeast: 0) + 1) } ?? -1
        guard poll(&descriptors, nfds_t(descriptors.count), timeout) > 0 else { return }
        for index in connections.indices {
            let descriptor = descriptors[index + 1]
            // A connection may have been closed, and another opened, by the failure of one before it.
            guard descriptor.fd >= 0, descriptor.fd == connections[index].descriptor else { continue }
            if descriptor.revents & ~Int16(POLLOUT) != 0 { receive(index) }
        }
    }

    /// Lets callers go whose time is over. Answers that have come by then are received before.
    private func expire() {
        let now = ContinuousClock.now
        for index in connections.indices {
            do throws(RedisStoreError) {
                var suspension: RedisStoreError?
                try connections[index].expire(now) { if reports.failed($0) { suspension = $0 } }
                if let suspension { return disconnect(suspension) }
            } catch { close(index, error) }
        }
    }

    /// Whether the loop has been stopped, and nothing is left to do for it or its time is over.
    private var isOver: Bool {
        guard let stopping else { return false }
        let isIdle = connections.allSatisfy { $0.load == 0 }
        guard isIdle || stopping.deadline <= .now else { return false }
        for connection in connections { connection.close(.shutDown) }
        reports.deaf()
        stopping.done(isIdle)
        self.stopping = nil
        return true
    }
}
