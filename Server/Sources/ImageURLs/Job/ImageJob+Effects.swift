extension ImageJob {
    /// A colour in sRGB.
    public struct Color: Sendable, Hashable {
        public var red: UInt8
        public var green: UInt8
        public var blue: UInt8

        public init(red: UInt8, green: UInt8, blue: UInt8) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }

        /// Six hexadecimal digits, or three that count twice each. `nil` otherwise.
        init?(hex text: some StringProtocol) {
            let digits = text.utf8.compactMap { character -> UInt8? in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
                default: nil
                }
            }
            guard digits.count == text.utf8.count else { return nil }
            switch digits.count {
            case 3: self.init(red: digits[0] * 17, green: digits[1] * 17, blue: digits[2] * 17)
            case 6:
                self.init(
                    red: digits[0] * 16 + digits[1], green: digits[2] * 16 + digits[3], blue: digits[4] * 16 + digits[5]
                )
            default: return nil
            }
        }
    }

    /// Work on the pixels.
    public enum Effect: Sendable, Hashable {
        /// A mirror of the cut picture.
        case flip(Flip)
        /// Quarter turns clockwise of the cut picture, 1...3.
        case rotate(quarterTurns: Int)
        /// Gauss's blur. `sigma` is in pixels of the result; the kernel ends at `radius`, or where it has no weight.
        case blur(sigma: Double, radius: Int? = nil)
        /// A mask of this standard deviation that makes edges steeper, as libvips' and imgproxy's.
        case sharpen(sigma: Double)
        /// thumbor's: details of about 2 to the power of `radius` pixels get stronger by the factor 1 + `amount`, in all channels or in
        /// the luminance alone.
        case wavelet(amount: Double, radius: Double, luminanceOnly: Bool)
        /// Squares of one colour, with this many pixels a side.
        case pixelate(side: Int)
        /// Percent that each channel is raised by, -100...100.
        case brightness(Int)
        /// Percent, -100...100.
        case contrast(Int)
        /// thumbor's: a factor of the distance from the grey of the same perceived brightness.
        case saturation(Double)
        /// Percent that each channel is raised by, -100...100.
        case channels(red: Int, green: Int, blue: Int)
        /// Luminance alone (ITU-R BT.601).
        case grayscale
        /// Corners cut to an ellipse with these radii in pixels. The rest has the colour, as opaque as the picture is there, or is
        /// transparent.
        case roundedCorners(x: Int, y: Int, color: Color, transparent: Bool)
        /// A picture on top, below the effects that follow.
        case watermark(Watermark)
        /// A canvas of the size that was asked for, with the picture in its middle; behind what is transparent as well if
        /// the flag says so.
        case fill(Fill, behindTransparency: Bool)
        /// A colour behind what is transparent.
        case background(Color)
        /// Both sides times this factor, above 0 and at most 1, without the fraction of a pixel. A side of less than a pixel
        /// leaves the picture as it is.
        case scale(Double)

        /// The address of the picture that the effect reads.
        var source: String? {
            if case .watermark(let watermark) = self, case .url(let address) = watermark.picture {
                address
            } else {
                nil
            }
        }

        /// The name in a canonical text, by which effects of one kind replace each other where a URL may have only one.
        var kind: String {
            switch self {
            case .flip: "flip"
            case .rotate: "rotate"
            case .blur: "blur"
            case .sharpen: "sharpen"
            case .wavelet: "wavelet"
            case .pixelate: "pixelate"
            case .brightness: "brightness"
            case .contrast: "contrast"
            case .saturation: "saturation"
            case .channels: "channels"
            case .grayscale: "grayscale"
            case .roundedCorners: "corners"
            case .watermark: "watermark"
            case .fill: "fill"
            case .background: "background"
            case .scale: "scale"
            }
        }
    }

    /// The content of a canvas around a picture.
    public enum Fill: Sendable, Hashable {
        case color(Color)
        case transparent
        /// The mean colour of the picture, that of transparent pixels included.
        case mean
        /// The picture itself, stretched and blurred (sigma 50).
        case blurred
    }

    /// A picture on top of another.
    public struct Watermark: Sendable, Hashable {
        public enum Picture: Sendable, Hashable {
            /// The server's own.
            case configured
            /// An address, which has to be checked as that of the source.
            case url(String)
        }

        /// A place on one axis.
        public enum Axis: Sendable, Hashable {
            /// Pixels from the near edge.
            case fromStart(Int)
            /// Pixels between the far edge and the watermark.
            case fromEnd(Int)
            /// Percent of the picture's side from the near edge.
            case percentFromStart(Int)
            /// Percent of the picture's side between the far edge and the watermark.
            case percentFromEnd(Int)
            case center
            /// Again and again, as often as it fits.
            case tiled
        }

        public enum Position: Sendable, Hashable {
            /// A place along the edges and the distance from there towards the middle. Times `dpr`.
            case compass(Compass, x: Length = .zero, y: Length = .zero)
            /// Over all of the picture, with this room between. Times `dpr`.
            case tiled(x: Length, y: Length)
            /// thumbor's, with a rule for each axis.
            case axes(x: Axis, y: Axis)
        }

        public enum Size: Sendable, Hashable {
            /// As it is, also where that is larger than the result.
            case own
            /// Within this part of the result, enlarged if need be.
            case scale(Double)
            /// Within these percents of the result's sides, enlarged if need be. A side that is `nil` follows.
            case percent(width: Int?, height: Int?)
        }

        /// The server's by default.
        public var picture: Picture
        /// 0...1, a factor of the picture's own. 1 by default.
        public var opacity: Double
        /// 0...1, the part of a full alpha that each pixel loses, those with less all they have: thumbor's transparency. 0 by default.
        public var fade: Double
        /// The centre by default.
        public var position: Position
        /// Its own by default.
        public var size: Size

        public init(
            picture: Picture = .configured, opacity: Double = 1, fade: Double = 0,
            position: Position = .compass(.center), size: Size = .own
        ) {
            (self.picture, self.opacity, self.fade) = (picture, opacity, fade)
            (self.position, self.size) = (position, size)
        }
    }
}

extension ImageJob {
    /// Replaces the effect of this kind, in the order that imgproxy has for them (blur, sharpen, pixelate), whatever the order
    /// in the URL.
    mutating func setEffect(_ kind: String, _ effect: Effect?) {
        effects.removeAll { $0.kind == kind }
        guard let effect else { return }
        let later = ["blur", "sharpen", "pixelate"].drop { $0 != kind }
        let place = effects.firstIndex { later.contains($0.kind) } ?? effects.endIndex
        effects.insert(effect, at: place)
    }
}
