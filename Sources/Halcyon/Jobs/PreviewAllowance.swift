/// What the previews of one body may cost: with the reading of the body, one and a half times a decode of it.
///
/// How much that is nobody knows before the end. The reading so far, carried on to the whole body, and one preview are an
/// estimate that does not depend on the machine or the format.
struct PreviewAllowance {
    /// Times a whole decode.
    private static let share = 1.5

    private var reading = Duration.zero
    private var previews = Duration.zero
    private var lastPreview = Duration.zero

    /// Whether another preview fits.
    ///
    /// - Parameter expected: bytes in all; nil takes twice what is there.
    func allowsPreview(received: Int, expected: Int?) -> Bool {
        guard previews > .zero, received > 0 else { return true }
        let total = max(received, expected ?? received * 2)
        let wholeReading = reading * (Double(total) / Double(received))
        let decode = wholeReading + lastPreview
        return wholeReading + previews + lastPreview <= decode * Self.share
    }

    /// Processor time that a step took.
    mutating func add(reading: Duration, preview: Duration) {
        self.reading += reading
        previews += preview
        if preview > .zero { lastPreview = preview }
    }
}
