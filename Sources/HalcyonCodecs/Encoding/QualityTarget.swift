import HalcyonImage

/// A quality that is found for each image by the score that its encoding is to have.
///
/// One quality makes a good copy of one picture and a bad one of another, and means something else in each format. A score is a measure of
/// what is seen: `Bitmap.similarity(to:)` of the decoded file to the image, from 0 to 100. 80 is a good copy, 90 one that few tell from the
/// original.
///
/// The image is encoded, decoded and compared, at most four times, with qualities in steps of 0.01, until the score is within `tolerance`;
/// the file that came nearest is the result. So it is where no quality within the bounds reaches the score: that of white paper is 100 at
/// any quality, and a format that stores colour at half its resolution may end at 85 with a picture of fine lines.
public struct QualityTarget: Hashable, Sendable {
    /// The score, from 0 to 100. With any other value, encoding fails (`CodecError.encodingFailed`).
    public var score: Double {
        get { storedScore.value }
        set { storedScore = KeyNumber(value: newValue) }
    }
    /// The qualities that may be used, within 0 and 1, all of them by default. With any other range, encoding fails.
    public var qualities: ClosedRange<Double>
    /// The difference to the score with which the search ends, 1 by default. A smaller one takes more encodes, and no more than four. Below
    /// 0, encoding fails.
    public var tolerance: Double {
        get { storedTolerance.value }
        set { storedTolerance = KeyNumber(value: newValue) }
    }

    private var storedScore: KeyNumber
    private var storedTolerance: KeyNumber

    /// Creates a target; omitted arguments take the defaults that the properties state.
    public init(score: Double, qualities: ClosedRange<Double> = 0...1, tolerance: Double = 1) {
        self.qualities = qualities
        storedScore = KeyNumber(value: score)
        storedTolerance = KeyNumber(value: tolerance)
    }

    /// Adds all that the encoded bytes depend on to a cache key.
    func encode(into key: inout KeyEncoder) {
        for number in [score, qualities.lowerBound, qualities.upperBound, tolerance] { key.encode(number) }
    }

    /// Checks the numbers.
    ///
    /// - Throws: `CodecError.encodingFailed`.
    func check(for format: ImageFormat) throws {
        guard (0...100).contains(score) else {
            throw CodecError.encodingFailed(format, reason: "a score is from 0 to 100, and not \(score)")
        }
        guard qualities.lowerBound >= 0, qualities.upperBound <= 1 else {
            throw CodecError.encodingFailed(
                format,
                reason: "qualities are from 0 to 1, and not from \(qualities.lowerBound) to \(qualities.upperBound)")
        }
        guard tolerance >= 0 else {
            throw CodecError.encodingFailed(format, reason: "a tolerance is 0 or more, and not \(tolerance)")
        }
    }
}

/// A number that equals itself even if it is none, so that options can be part of a key before they are checked.
struct KeyNumber: Hashable {
    let value: Double

    static func == (left: KeyNumber, right: KeyNumber) -> Bool {
        left.value == right.value || left.value.isNaN && right.value.isNaN
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value.isNaN ? -1 : value) }
}
