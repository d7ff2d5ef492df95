import CHalcyonSystem

/// Signals that end the program, after work that is done first.
///
/// The work runs on a thread of its own, as a signal's handler may call next to nothing. The source of libdispatch is no
/// match: a signal that comes before the source is registered, which is some time after its activation, is lost.
package enum EndSignals {
    private static let work = Lock<(@Sendable () -> Void)?>(nil)

    /// The thread that waits for signals. Once is enough.
    private static let thread: Void = WorkerThread.startOrBorrow(name: "halcyon-signal") {
        while true {
            let number = halcyon_next_signal()
            work.withLock { $0 }?()
            halcyon_raise_default(number)
        }
    }

    /// Runs the work when one of the signals comes, and then takes the signal's default action.
    ///
    /// A signal that comes after this call is not lost, and none of them ends the program before the work is over. The work
    /// is that of the last call. Signals that cannot be caught, and those that are ignored, are left as they are.
    package static func handle(_ signals: Set<Int32>, _ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0 = work }
        thread
        for signal in signals { halcyon_note_signal(signal) }
    }
}
