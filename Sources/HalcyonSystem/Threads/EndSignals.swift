import CHalcyonSystem

/// A handler of the signals that end the program, which first does some work.
///
/// The work runs on a thread of its own, since a signal handler may call next to nothing. A dispatch source is not an
/// alternative: it loses a signal that arrives before the source is registered, which happens some time after its activation.
package enum EndSignals {
    private static let work = Lock<(@Sendable () -> Void)?>(nil)

    /// The thread that waits for signals, started once.
    private static let thread: Void = WorkerThread.startOrBorrow(name: "halcyon-signal") {
        while true {
            let number = halcyon_next_signal()
            work.withLock { $0 }?()
            halcyon_raise_default(number)
        }
    }

    /// Runs the work when one of the signals arrives, and then takes the signal's default action.
    ///
    /// A signal that arrives after this call is not lost, and no signal ends the program before the work has ended. The work of
    /// the last call counts. Signals that cannot be caught, and those that are ignored, are left as they are.
    package static func handle(_ signals: Set<Int32>, _ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0 = work }
        thread
        for signal in signals { halcyon_note_signal(signal) }
    }
}
