extension Duration {
    /// As long as a timer may be set to: nothing below zero, and no more than a year. The system's timers end the program
    /// where a moment is too far away to be counted.
    package var forTimer: Duration { min(max(self, .zero), .seconds(365 * 86_400)) }
}
