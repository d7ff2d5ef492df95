import HalcyonSystem
import Testing

@Suite struct WorkTicketTests {
    /// Notes what it is told, and asks the ticket back, which must not hold its lock.
    private final class Listener: WorkTicketListener {
        let seen = Lock<[String]>([])
        private let ticket: WorkTicket

        init(_ ticket: WorkTicket) {
            self.ticket = ticket
        }

        func cancelled() {
            seen.withLock { $0.append("cancelled \(ticket.isCancelled)") }
            ticket.remove(self)
        }

        func priorityChanged(of ticket: WorkTicket) {
            seen.withLock { $0.append("\(ticket.priority)") }
        }
    }

    @Test func listenersLearnOfChangesOnce() {
        let ticket = WorkTicket(priority: .low)
        let (first, second) = (Listener(ticket), Listener(ticket))
        #expect(ticket.add(first) && ticket.add(second))
        ticket.priority = .low
        ticket.priority = .high
        ticket.cancel()
        ticket.cancel()
        ticket.priority = .normal
        for listener in [first, second] { #expect(listener.seen.withLock { $0 } == ["high", "cancelled true"]) }
    }

    @Test func aRemovedListenerLearnsNothing() {
        let ticket = WorkTicket()
        let (gone, other) = (Listener(ticket), Listener(ticket))
        #expect(ticket.add(gone) && ticket.add(other))
        ticket.remove(gone)
        ticket.remove(gone)
        ticket.priority = .high
        ticket.cancel()
        #expect(gone.seen.withLock { $0 } == [])
        #expect(other.seen.withLock { $0 } == ["high", "cancelled true"])
    }

    @Test func aCancelledTicketTakesNoListener() {
        let ticket = WorkTicket()
        ticket.cancel()
        #expect(!ticket.add(Listener(ticket)))
        #expect(ticket.isCancelled)
    }
}
