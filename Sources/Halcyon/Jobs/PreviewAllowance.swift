/// The limit for the cost of one body's previews: together with the reading of the body, one and a half times a decode
/// of it.
///
/// The cost of a decode is not known before the end. The reading so far, extrapolated to the whole body, plus one
/// preview give an estimate that does not depend on the machine or the format.
struct PreviewAllowance {
    /// The limit as a multiple of a whole decode.
    private static let share = 1.5

    private var reading = Duration.zero
    private var previews = Duration.zero
    private var lastPreview = Duration.zero

    /// Returns whether another preview is within the limit.
    ///
    /// - Parameter expected: the length of the whole body in bytes; nil assumes twice the bytes received.
    func allowsPreview(received: Int, expected: Int?) -> Bool {
        guard previews > .zero, received > 0 else { return true }
        let total = max(received, expected ?? received * 2)
        let wholeReading = reading * (Double(total) / Double(received))
        let decode = wholeReading + lastPreview
        return wholeReading + previews + lastPreview <= decode * Self.share
    }

    /// Adds the processor time that a step took.
    mutating func add(reading: Duration, preview: Duration) {
        self.reading += reading
        previews += preview
        if preview > .zero { lastPreview = preview }
    }
}
