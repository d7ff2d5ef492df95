import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

@Suite struct DecodePlanTests {
    let registry = CoderRegistry.standard()

    private static let sizes = [PixelSize(640, 427), PixelSize(301, 500), PixelSize(33, 9)]
    private static let boxes = [
        PixelSize(1, 1), PixelSize(7, 300), PixelSize(64, 64), PixelSize(80, 53), PixelSize(160, 107),
        PixelSize(200, 100), PixelSize(333, 222), PixelSize(639, 426), PixelSize(2000, 1500), PixelSize(.max, 40),
    ]

    @Test(arguments: [ImageFormat.jpeg, .png, .webp], sizes)
    func everyTargetGivesItsExactSize(_ format: ImageFormat, _ size: PixelSize) throws {
        let file = try registry.encode(sampleImage(size, hasAlpha: format != .jpeg), as: format)
        for box in Self.boxes {
            for mode in ResizeMode.allCases where box.width < .max || mode != .fill {
                let options = DecodeOptions(target: TargetSize(box, mode: mode))
                let clamped = PixelSize(min(box.width, Bitmap.maximumSide), box.height)
                let expected = ResizeGeometry(source: size, box: clamped, mode: mode, upscale: false).size
                let image = try registry.decode(file, options: options)
                #expect(image.size == expected, "\(format) \(size) \(mode) \(box)")
                #expect(image.info.size == size)
            }
        }
    }

    @Test(arguments: 1...8)
    func targetsMeanTheUprightImage(_ orientation: Int) throws {
        let data = try Fixture.read("jpeg/orientation-\(orientation).jpg")
        let whole = try registry.decode(data)
        for mode in ResizeMode.allCases {
            for box in [PixelSize(24, 16), PixelSize(11, 30), PixelSize(30, 11), PixelSize(48, 5)] {
                let image = try registry.decode(data, options: DecodeOptions(target: TargetSize(box, mode: mode)))
                let geometry = ResizeGeometry(source: whole.size, box: box, mode: mode, upscale: false)
                #expect(image.size == geometry.size)
                // Small and full of edges, so two ways of reducing differ; a wrong turn or cut differs far more.
                let reference = try whole.bitmap.resampled(geometry)
                let signal = signalToNoise(image.bitmap.bytes, reference.bytes)
                #expect(signal > 22, "orientation \(orientation) \(mode) \(box): \(signal)")
            }
        }
    }

    /// A decode at a smaller size against a whole decode and one reduction.
    @Test(arguments: [(ImageFormat.jpeg, 36.0), (.webp, 44.0), (.png, Double.infinity)])
    func scaledDecodesLookLikeReducedOnes(_ format: ImageFormat, _ least: Double) throws {
        let size = PixelSize(1200, 800)
        let options = EncodeOptions(quality: 0.95)
        let file = try registry.encode(sampleImage(size), as: format, options: options)
        let whole = try registry.decode(file).bitmap
        for width in [600, 450, 300, 220, 150, 100, 75] {
            let box = PixelSize(width, width)
            let scaled = try registry.decode(file, options: DecodeOptions(target: TargetSize(box)))
            let reference = try whole.resampled(
                ResizeGeometry(source: size, box: box, mode: .fit, upscale: false))
            let signal = signalToNoise(scaled.bitmap.bytes, reference.bytes)
            #expect(signal >= least, "\(format) at \(width): \(signal) dB")
        }
    }

    @Test func jpegDecodesAtEighths() throws {
        let file = try registry.encode(sampleImage(PixelSize(801, 600)), as: .jpeg)
        let expected = [
            (801, PixelSize(801, 600)), (702, PixelSize(801, 600)), (700, PixelSize(701, 525)),
            (400, PixelSize(401, 300)), (100, PixelSize(101, 75)), (102, PixelSize(201, 150)), (5, PixelSize(101, 75)),
        ]
        for (width, native) in expected {
            let options = DecodeOptions(target: TargetSize(PixelSize(width, .max)))
            #expect(try registry.plan(file, options: options).nativeSize == native, "\(width)")
        }
    }

    @Test func nativeSizeIsNeverBelowTheNeed() throws {
        for format in [ImageFormat.jpeg, .webp] {
            let file = try registry.encode(sampleImage(PixelSize(517, 389)), as: format)
            for side in stride(from: 1, through: 520, by: 7) {
                for mode in ResizeMode.allCases {
                    let target = TargetSize(PixelSize(side, 100), mode: mode)
                    let plan = try registry.plan(file, options: DecodeOptions(target: target))
                    let needed = (
                        517 * Double(plan.finalSize.width) / plan.geometry.sourceWidth,
                        389 * Double(plan.finalSize.height) / plan.geometry.sourceHeight
                    )
                    #expect(Double(plan.nativeSize.width) > min(517, needed.0) - 1e-3)
                    #expect(Double(plan.nativeSize.height) > min(389, needed.1) - 1e-3)
                }
            }
        }
    }

    @Test func upscalesOnlyWhenAsked() throws {
        let file = try Fixture.read("png/rgb8.png")
        for mode in ResizeMode.allCases {
            let box = PixelSize(96, 96)
            let kept = try registry.decode(file, options: DecodeOptions(target: TargetSize(box, mode: mode)))
            #expect(kept.width <= 48 && kept.height <= 32)
            let target = TargetSize(box, mode: mode, upscale: true)
            let large = try registry.decode(file, options: DecodeOptions(target: target))
            #expect(large.size == (mode == .fit ? PixelSize(96, 64) : box))
        }
    }

    @Test func targetsWithoutAreaAreRefused() throws {
        let file = try Fixture.read("png/rgb8.png")
        let targets = [
            TargetSize(PixelSize(0, 10)), TargetSize(PixelSize(10, -1)), TargetSize(PixelSize(.min, .max)),
            TargetSize(PixelSize(.max, 10), mode: .fill), TargetSize(PixelSize(.max, .max), upscale: true),
        ]
        for target in targets {
            #expect(throws: BitmapError.invalidSize(target.size)) {
                try registry.decode(file, options: DecodeOptions(target: target))
            }
        }
    }

    @Test(arguments: [
        "jpeg/baseline-420.jpg", "png/rgba8.png", "webp/lossy.webp", "webp/animated.webp", "gif/still.gif",
    ])
    func maximumBytesScalesDown(_ file: String) throws {
        let data = try Fixture.read(file)
        let expected = [
            (1, PixelSize(1, 1)), (0, PixelSize(1, 1)), (-5, PixelSize(1, 1)), (48 * 32 * 4, PixelSize(48, 32)),
            (48 * 32, PixelSize(24, 16)), (48 * 32 * 4 - 1, PixelSize(47, 31)),
        ]
        for (bytes, size) in expected {
            let image = try registry.decode(data, options: DecodeOptions(maximumBytes: ByteLimit(bytes)))
            #expect(image.size == size, "\(bytes)")
        }
        let both = DecodeOptions(target: TargetSize(PixelSize(24, 24)), maximumBytes: ByteLimit(24 * 16))
        #expect(try registry.decode(data, options: both).size == PixelSize(12, 8))
    }

    /// Odd sizes leave no seam and no blank row.
    @Test func everyRowIsPainted() throws {
        let size = PixelSize(1029, 1029)
        let white = try Bitmap(
            size: size, isOpaque: true, pixels: [UInt8](repeating: 255, count: 1029 * 1029 * 4))
        let image = Image(bitmap: white, info: ImageInfo(format: .png, size: size))
        for format in [ImageFormat.jpeg, .png, .webp] {
            let file = try registry.encode(image, as: format)
            for maximum in [Int.max, 1_000_000, 99_999] {
                let decoded = try registry.decode(file, options: DecodeOptions(maximumBytes: ByteLimit(maximum)))
                #expect(decoded.bitmap.bytes.allSatisfy { $0 >= 254 })
            }
        }
    }

    @Test func keysTellOptionsApart() {
        func key(_ options: DecodeOptions) -> [UInt8] {
            var encoder = KeyEncoder()
            options.encode(into: &encoder)
            return encoder.bytes
        }
        let size = PixelSize(10, 20)
        /// Options for each property that changes the pixels, by its name.
        let different: [String: [DecodeOptions]] = [
            "target": [
                DecodeOptions(target: TargetSize(size)), DecodeOptions(target: TargetSize(size, mode: .fill)),
                DecodeOptions(target: TargetSize(size, mode: .stretch)),
                DecodeOptions(target: TargetSize(size, upscale: true)),
                DecodeOptions(target: TargetSize(size, light: .linear)),
                DecodeOptions(target: TargetSize(size.transposed)),
            ],
            "maximumBytes": [
                DecodeOptions(maximumBytes: 0), DecodeOptions(maximumBytes: 1),
                DecodeOptions(target: TargetSize(size), maximumBytes: 1),
            ],
            "region": [(0, 0, 10, 20), (1, 0, 10, 20), (0, 1, 10, 20), (0, 0, 11, 20), (0, 0, 10, 21)].map {
                DecodeOptions(region: PixelRect(x: $0.0, y: $0.1, width: $0.2, height: $0.3))
            },
            "color": [DecodeOptions(color: .asStored)],
            "firstFrameOnly": [DecodeOptions(firstFrameOnly: true)],
            "usesEmbeddedThumbnail": [DecodeOptions(usesEmbeddedThumbnail: true)],
            "decodesGainMap": [
                DecodeOptions(decodesGainMap: true), DecodeOptions(decodesGainMap: true, depth: .init()),
            ],
            "depth": [
                DecodeOptions(depth: .init()), DecodeOptions(depth: .init(.float16)),
                DecodeOptions(depth: .init(colorSpace: .displayP3)),
                DecodeOptions(target: TargetSize(size), depth: .init()),
                DecodeOptions(target: TargetSize(size, light: .linear), depth: .init()),
            ],
            "keepsDynamicRange": [
                DecodeOptions(depth: .init(), keepsDynamicRange: true),
                DecodeOptions(depth: .init(colorSpace: .displayP3), keepsDynamicRange: true),
            ],
        ]
        let all = [DecodeOptions()] + different.values.joined()
        #expect(Set(all.map(key)).count == all.count)
        #expect(different.values.allSatisfy { !$0.isEmpty })
        // They decide when the frames are decoded, where, and which files are refused; an incomplete image is kept nowhere.
        let others: Set = ["preloadAllFrames", "limits", "allowsIncomplete", "place"]
        #expect(key(DecodeOptions(isolation: .isolated())) == key(DecodeOptions()))
        #expect(key(DecodeOptions(allowsIncomplete: true)) == key(DecodeOptions()))
        #expect(key(DecodeOptions(limits: DecodeLimits(maximumPixels: 1))) == key(DecodeOptions()))
        #expect(key(DecodeOptions(preloadAllFrames: true)) == key(DecodeOptions()))
        #expect(Set(Mirror(reflecting: DecodeOptions()).children.compactMap(\.label)) == others.union(different.keys))
    }
}
