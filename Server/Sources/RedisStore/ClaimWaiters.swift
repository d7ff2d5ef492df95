import Foundation
import HalcyonSystem
import NIOConcurrencyHelpers

/// The calls of this process that wait for claims of others, by channel.
final class ClaimWaiters: Sendable {
    /// An event that a waiting call may act upon.
    enum Wake: Sendable {
        /// From now on no event is missed.
        case listening
        case stored
        case released
        case timeUp
        /// No more events come.
        case gone
    }

    /// The place of one waiting call.
    final class Seat: Sendable {
        let channel: String
        let wakes: AsyncStream<Wake>
        let wake: AsyncStream<Wake>.Continuation

        init(_ channel: String) {
            self.channel = channel
            (wakes, wake) = AsyncStream.makeStream()
        }
    }

    private struct Channel {
        var isListening = false
        var seats: [ObjectIdentifier: Seat] = [:]
    }

    private let clock: TimeSource
    private let channels = NIOLockedValueBox([String: Channel]())

    init(_ clock: TimeSource) { self.clock = clock }

    /// Waits at a channel.
    ///
    /// - Parameter subscribe: called for the first seat, in the order of the calls for this channel.
    func join(_ channel: String, subscribe: () -> Void) -> Seat {
        let seat = Seat(channel)
        channels.withLockedValue { channels in
            if channels[channel] == nil { subscribe() }
            channels[channel, default: Channel()].seats[ObjectIdentifier(seat)] = seat
            if channels[channel]?.isListening == true { seat.wake.yield(.listening) }
        }
        return seat
    }

    /// Leaves a seat.
    ///
    /// - Parameter unsubscribe: called with the last one.
    func leave(_ seat: Seat, unsubscribe: () -> Void) {
        channels.withLockedValue { channels in
            guard channels[seat.channel]?.seats.removeValue(forKey: ObjectIdentifier(seat)) != nil,
                channels[seat.channel]?.seats.isEmpty == true
            else { return }
            channels[seat.channel] = nil
            unsubscribe()
        }
    }

    /// The number of seats.
    var count: Int { channels.withLockedValue { $0.values.reduce(0) { $0 + $1.seats.count } } }

    /// Starts the timer that wakes a seat at a time.
    func startTimer(_ seat: Seat, until time: Date) -> Task<Void, Never> {
        let clock = clock
        return Task.detached { [weak seat] in
            let rest = Duration.seconds(time.timeIntervalSince(clock.now))
            guard (try? await clock.wait(for: max(rest, .zero))) != nil else { return }
            seat?.wake.yield(.timeUp)
        }
    }

    func listening(_ channel: String) {
        let seats = channels.withLockedValue { channels in
            channels[channel]?.isListening = true
            return channels[channel].map { Array($0.seats.values) } ?? []
        }
        for seat in seats { seat.wake.yield(.listening) }
    }

    func heard(_ channel: String, _ message: String) {
        let seats = channels.withLockedValue { channels in channels[channel].map { Array($0.seats.values) } ?? [] }
        for seat in seats { seat.wake.yield(message == "stored" ? .stored : .released) }
    }

    func deaf() {
        let seats = channels.withLockedValue { channels in
            defer { channels = [:] }
            return channels.values.flatMap(\.seats.values)
        }
        for seat in seats { seat.wake.yield(.gone) }
    }
}
