import CHalcyonPixels
import Glibc
import HalcyonSystem

extension Bitmap {
    /// Returns how alike two pictures of one size look, from 0 to 100, or nil if their sizes differ.
    ///
    /// 100 is equal. Above 90, few viewers tell a photograph from its copy side by side; 80 is a good copy, 70 one whose loss shows, and
    /// below 50 it spoils the picture. A photograph of a megapixel has about 94 as a JPEG of quality 90, 80 of 50, and 47 of 10.
    ///
    /// The score is the structural similarity at several scales of Wang, Simoncelli and Bovik, "Multiscale structural similarity for image
    /// quality assessment", Asilomar 2003, with its five weights and constants, on windows of 8x8 pixels that are four apart. Luma
    /// counts 0.8 and each chroma 0.1, as in Wang, Lu and Bovik, "Video quality assessment based on structural distortion measurement",
    /// Signal Processing: Image Communication 19(2), 2004; chroma begins at a quarter of the size, where it does not matter that most
    /// formats store half. Of this similarity S, the score is 100 - 250 sqrt(1 - S), at least 0: the root is a distance in the mathematical
    /// sense (Brunet, Vrscay and Wang, "On the mathematical properties of the structural similarity index", IEEE Transactions on Image
    /// Processing 21(4), 2012). Where a picture has transparent pixels, both are compared over black and over white, and the lower
    /// score counts.
    ///
    /// It is the same on every machine. Cost: some 2 ms for a megapixel, and 4 bytes for each pixel meanwhile.
    ///
    /// - Throws: `BitmapError.outOfMemory`, `CancellationError`.
    public func similarity(to other: Bitmap, context: WorkContext = .uncancellable) throws -> Double? {
        var reference = SimilarityReference(self)
        return try reference.score(of: other, context: context)
    }
}

/// A picture that is compared with several copies of it.
package struct SimilarityReference {
    /// The most bytes for each pixel of a comparison, the pixels of both pictures not included.
    package static let workingBytesPerPixel = 6

    private let bitmap: Bitmap
    private let isOpaque: Bool
    /// The planes over each ground that was needed.
    private var planes: [UInt32: PicturePlanes] = [:]

    package init(_ bitmap: Bitmap) {
        self.bitmap = bitmap
        isOpaque = bitmap.hasOpaquePixelsOnly
    }

    /// Returns the score of `Bitmap.similarity(to:)`.
    ///
    /// - Parameter background: the colour (0xRRGGBB) that the picture was composited over for a copy without alpha; nil compares with the
    ///   picture as it is.
    package mutating func score(
        of copy: Bitmap, background: UInt32? = nil, context: WorkContext
    ) throws -> Double? {
        guard copy.size == bitmap.size else { return nil }
        let isOpaqueCopy = copy.hasOpaquePixelsOnly
        let grounds: [UInt32] =
            if isOpaque, isOpaqueCopy { [0] } else if let background, isOpaqueCopy { [background] } else {
                [0, 0xFFFFFF]
            }
        var lowest = 100.0
        for ground in grounds {
            let own =
                try planes[ground] ?? PicturePlanes(bitmap, over: ground, isOpaque: isOpaque, context: context)
            planes[ground] = own
            let others = try PicturePlanes(copy, over: ground, isOpaque: isOpaqueCopy, context: context)
            lowest = min(lowest, try own.score(of: others, context: context))
        }
        return lowest
    }
}

/// The planes of a picture, as C compares them.
private final class PicturePlanes {
    private let planes: OpaquePointer
    private let byteCount: Int

    init(_ bitmap: Bitmap, over ground: UInt32, isOpaque: Bool, context: WorkContext) throws {
        byteCount = bitmap.width * bitmap.height * 2
        var made: OpaquePointer?
        let status = bitmap.withPixels { bytes in
            // C only reads the pixels, but has one struct for sources and results.
            let source = halcyon_bitmap(UnsafeMutableRawBufferPointer(mutating: bytes), size: bitmap.size)
            return withCancellation(context) { halcyon_planes_create(source, ground, isOpaque, &made, $0, $1) }
        }
        planes = try Self.checked(made, status, byteCount)
    }

    deinit { halcyon_planes_free(planes) }

    private static func checked<Value>(
        _ value: Value?, _ status: halcyon_status, _ byteCount: Int
    ) throws -> Value {
        if status == HALCYON_CANCELLED { throw CancellationError() }
        guard status == HALCYON_OK, let value else { throw BitmapError.outOfMemory(bytes: byteCount) }
        return value
    }

    func score(of other: PicturePlanes, context: WorkContext) throws -> Double {
        var result = halcyon_similarity()
        let status = withCancellation(context) { halcyon_planes_compare(planes, other.planes, &result, $0, $1) }
        return try Self.score(Self.checked(result, status, byteCount))
    }

    /// The weights of the scales, from the whole size to a sixteenth (Wang, Simoncelli and Bovik).
    private static let weights = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333]
    private static let shares = [0.8, 0.1, 0.1]

    private static func score(_ result: halcyon_similarity) -> Double {
        let similarity = withUnsafeBytes(of: result) { bytes in
            let sums = bytes.bindMemory(to: halcyon_similarity_sum.self)
            return shares.enumerated().reduce(0.0) { total, share in
                total + share.element * Self.similarity(sums.dropFirst(share.offset * weights.count))
            }
        }
        let score = 100 - 250 * max(0, 1 - similarity).squareRoot()
        // The last digits of a power may differ from one machine to another.
        return (max(0, score) * 1000).rounded() / 1000
    }

    /// Returns the product of the means of all scales that there are, each to the power of its share of the weights.
    private static func similarity(_ sums: Slice<UnsafeBufferPointer<halcyon_similarity_sum>>) -> Double {
        let scales = zip(sums, weights).filter { $0.0.windows > 0 }
        let total = scales.reduce(0) { $0 + $1.1 }
        return scales.reduce(1) { product, scale in
            let mean = Double(scale.0.total) / Double(scale.0.windows) / Double(1 << 24)
            return product * pow(max(0, mean), scale.1 / total)
        }
    }
}
