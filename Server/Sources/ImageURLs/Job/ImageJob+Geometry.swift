extension ImageJob {
    /// A length on one axis of a picture.
    public enum Length: Sendable, Hashable {
        /// In pixels.
        case pixels(Double)
        /// As a part of the picture's side, -1...1.
        case fraction(Double)

        /// No length.
        public static let zero = Length.pixels(0)

        /// The number of a URL: a part of the side if it is between -1 and 1, pixels otherwise.
        init(_ value: Double) {
            self = abs(value) < 1 && value != 0 ? .fraction(value) : .pixels(value == 0 ? 0 : value)
        }
    }

    /// A rectangle in pixels of the source, its far edges excluded.
    public struct Box: Sendable, Hashable {
        public var left: Int
        public var top: Int
        public var right: Int
        public var bottom: Int

        public init(left: Int, top: Int, right: Int, bottom: Int) {
            (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
        }
    }

    /// A place along the edges of a picture.
    public enum Compass: String, Sendable, Hashable, CaseIterable {
        case center, top, bottom, left, right, topLeft, topRight, bottomLeft, bottomRight
    }

    /// The part of a picture that matters when it is cut, or its place on a canvas.
    public enum Gravity: Sendable, Hashable {
        /// A place along the edges, and the distance from there towards the middle; right and down from the centre.
        case compass(Compass, x: Length = .zero, y: Length = .zero)
        /// The most salient part, as the server finds it.
        case smart
        /// The point that is to be in the middle, each coordinate 0...1 from the top left.
        case focus(x: Double, y: Double)
        /// The mean of the middles of these parts of what `trim` leaves, each weighted by its area. Those whose middle is outside of
        /// `crop` do not count; without any left it is the centre. By thumbor's rules alone.
        case regions([Box])

        /// The middle, without offsets.
        public static let center = Gravity.compass(.center)
    }

    /// The part of the source that is used.
    public enum Crop: Sendable, Hashable {
        /// A part of this size; its place follows from the gravity, or from the job's where that is `nil`. A side of
        /// `.fraction(1)` is all of the source's.
        case area(width: Length, height: Length, gravity: Gravity? = nil)
        /// A rectangle of the picture as it is before `trim`, cut down to it. Ignored if nothing remains.
        case box(Box)
    }

    /// A border of one colour that is removed.
    public struct Trim: Sendable, Hashable {
        /// The colour of the border.
        public enum Border: Sendable, Hashable {
            /// Colour of the first pixel.
            case topLeft
            /// Colour of the last pixel.
            case bottomRight
            /// This colour; magenta stands for transparent pixels.
            case color(Color)
        }

        /// How far a pixel of the border may be from its colour.
        public enum Tolerance: Sendable, Hashable {
            /// The greatest difference of one channel, 0...255.
            case channel(Double)
            /// thumbor's: the distance of red, green, blue and alpha, 0...442.
            case distance(Double)
        }

        /// The tolerance, none by default.
        public var tolerance: Tolerance
        /// The colour, that of the first pixel by default.
        public var border: Border
        /// Whether as much is removed at the left as at the right. `false` by default.
        public var equalHorizontally: Bool
        /// Whether as much is removed at the top as at the bottom. `false` by default.
        public var equalVertically: Bool

        public init(
            tolerance: Tolerance = .channel(0), border: Border = .topLeft, equalHorizontally: Bool = false,
            equalVertically: Bool = false
        ) {
            (self.tolerance, self.border) = (tolerance, border)
            (self.equalHorizontally, self.equalVertically) = (equalHorizontally, equalVertically)
        }
    }

    /// Room around a picture, in pixels before `dpr`.
    public struct Padding: Sendable, Hashable {
        public var top = 0
        public var right = 0
        public var bottom = 0
        public var left = 0

        public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }
    }

    /// Mirrors of a picture.
    public struct Flip: Sendable, Hashable {
        /// Left and right change places.
        public var horizontal = false
        /// Top and bottom change places.
        public var vertical = false

        public init(horizontal: Bool = false, vertical: Bool = false) {
            (self.horizontal, self.vertical) = (horizontal, vertical)
        }
    }

    /// The size of the result and how it is reached.
    public struct Resize: Sendable, Hashable {
        public enum Mode: String, Sendable, Hashable, CaseIterable {
            /// Within the size, with the ratio of the source.
            case fit
            /// The size, with the ratio of the source: the rest is cut off.
            case fill
            /// As `fill`, and a source that is too small is cut to the ratio of the size.
            case fillDown = "fill-down"
            /// The size, without regard to the ratio. A side that is not given stays as it is.
            case force
            /// `fill` if the source and the size are both wide or both tall, otherwise `fit`.
            case auto
            /// Around the size, with the ratio of the source and nothing cut off.
            case cover
        }

        /// One side of the size.
        public enum Side: Sendable, Hashable {
            /// Not stated: follows from the other side, or from the width in a client's layout.
            case unset
            /// Follows from the other side and the ratio of the source.
            case follows
            /// In pixels before `dpr` and `zoom`.
            case pixels(Int)
            /// The same as in the source.
            case original

            /// The pixels, 0 where they are not stated.
            var pixels: Int { if case .pixels(let count) = self { count } else { 0 } }
        }

        /// The program whose order of steps and whole pixels count.
        public enum Rules: String, Sendable, Hashable {
            /// The source is scaled, and cut to whole pixels then.
            case imgproxy
            /// The source is cut to the ratio of the size, and stretched to whole pixels then.
            case thumbor
        }

        /// imgproxy's by default.
        public var rules = Rules.imgproxy
        /// `fit` by default.
        public var mode = Mode.fit
        /// Both sides are `unset` by default: the size of the source.
        public var width = Side.unset
        public var height = Side.unset
        /// Pixels that the result has at least, before `dpr` and `zoom`. 0 by default.
        public var minWidth = 0
        public var minHeight = 0
        /// Factors of the size, which leave offsets and padding as they are. 1 by default.
        public var zoomX = 1.0
        public var zoomY = 1.0
        /// Device pixels in a pixel: a factor of the size, offsets, padding and offsets of the watermark. `nil`, 1 or as
        /// the client says, by default.
        public var dpr: Double?
        /// Whether a source that is smaller than the size is enlarged. `false` by default.
        public var enlarge = false
        /// Whether sides that are longer than the source's count as those, each on its own. By thumbor's rules alone; `false` by
        /// default.
        public var staysWithinSource = false
        /// Whether width and height change places if the source is wide and the size is tall, or the reverse. `false` by
        /// default.
        public var adaptive = false

        public init() {}
    }
}
