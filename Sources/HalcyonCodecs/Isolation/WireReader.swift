import HalcyonImage
import HalcyonSystem

/// A message that cannot be read.
enum WireError: Error {
    case invalid(String)
}

/// Reads the values of a message as `KeyEncoder` writes them. Nothing in it is trusted: each value is checked against its bounds.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else { throw WireError.invalid("a message that is cut off") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func int() throws -> Int {
        Int(truncatingIfNeeded: try take(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }

    mutating func int(_ range: ClosedRange<Int>) throws -> Int {
        let value = try int()
        guard range.contains(value) else { throw WireError.invalid("a number out of its bounds") }
        return value
    }

    mutating func double() throws -> Double { Double(bitPattern: UInt64(bitPattern: Int64(try int()))) }

    mutating func bool() throws -> Bool {
        switch try take(1).first {
        case 0: false
        case 1: true
        default: throw WireError.invalid("a flag that is neither set nor unset")
        }
    }

    mutating func optionalInt() throws -> Int? { try bool() ? try int(0...Int.max) : nil }

    mutating func text() throws -> String { String(decoding: try take(try int()), as: UTF8.self) }

    /// A size whose sides fit into 32 bits.
    mutating func size() throws -> PixelSize {
        let sides = 0...Int(Int32.max)
        return PixelSize(try int(sides), try int(sides))
    }

    mutating func duration() throws -> Duration { .nanoseconds(try int()) }
}

// MARK: - Options

extension KeyEncoder {
    /// Encodes all options, those that change no pixel included. The frames are decoded one at a time in any case.
    mutating func encode(wire options: DecodeOptions) {
        encode(options.target != nil)
        if let target = options.target {
            encode(target.size)
            encode(target.mode.rawValue)
            encode(target.upscale)
            encode(target.light.rawValue)
        }
        encode(options.maximumBytes?.bytes)
        encode(options.region != nil)
        if let region = options.region {
            for value in [region.x, region.y, region.size.width, region.size.height] { encode(value) }
        }
        encode(options.color.rawValue)
        encode(options.firstFrameOnly)
        encode(options.allowsIncomplete)
        encode(options.usesEmbeddedThumbnail)
        encode(options.decodesGainMap)
        encode(options.depth != nil)
        if let depth = options.depth {
            encode(depth.channels.rawValue)
            encode(depth.colorSpace.rawValue)
            encode(options.keepsDynamicRange)
        }
        for limit in DecodeLimits.all { encode(options.limits[keyPath: limit]) }
    }
}

extension WireReader {
    mutating func options() throws -> DecodeOptions {
        var options = DecodeOptions()
        if try bool() {
            let size = PixelSize(try int(), try int())
            guard let mode = ResizeMode(rawValue: try text()) else { throw WireError.invalid("a mode") }
            let upscale = try bool()
            guard let light = ResizeLight(rawValue: try text()) else { throw WireError.invalid("a light") }
            options.target = TargetSize(size, mode: mode, upscale: upscale, light: light)
        }
        if try bool() { options.maximumBytes = ByteLimit(try int()) }
        if try bool() {
            options.region = PixelRect(x: try int(), y: try int(), width: try int(), height: try int())
        }
        guard let color = ColorHandling(rawValue: try text()) else { throw WireError.invalid("a handling of colours") }
        options.color = color
        options.firstFrameOnly = try bool()
        options.allowsIncomplete = try bool()
        options.usesEmbeddedThumbnail = try bool()
        options.decodesGainMap = try bool()
        if try bool() {
            guard let channels = DeepBitmap.Channels(rawValue: try text()),
                let space = NamedColorSpace(rawValue: try text())
            else { throw WireError.invalid("a depth") }
            options.depth = DeepBitmap.Format(channels, colorSpace: space)
            options.keepsDynamicRange = try bool()
        }
        for limit in DecodeLimits.all { options.limits[keyPath: limit] = try int() }
        return options
    }
}

// MARK: - Facts

extension KeyEncoder {
    mutating func encode(wire format: ImageFormat) {
        for text in [format.name, format.fileExtension, format.mimeType] { encode(text) }
    }

    mutating func encode(wire info: ImageInfo) {
        encode(wire: info.format)
        encode(info.size)
        encode(info.frameCount)
        encode(info.loopCount)
        encode(info.hasAlpha)
        encode(info.bitsPerChannel)
        encode(info.orientation.rawValue)
        switch info.colorSpace {
        case .sRGB: encode(0)
        case .gray: encode(1)
        case .cmyk: encode(2)
        case .icc(let name):
            encode(3)
            encode(name.wire)
        }
        encode(info.isVector)
        encode(info.isPreview)
        encode(info.hasGainMap)
    }
}

extension WireReader {
    /// Reads a format: the one that the library names itself, if there is one of this name.
    mutating func format() throws -> ImageFormat {
        let format = ImageFormat(try text(), fileExtension: try text(), mimeType: try text())
        return ImageFormat.known.first { $0 == format } ?? format
    }

    /// Returns a colour space by its name; nil for an empty one.
    mutating func colorSpace() throws -> NamedColorSpace? {
        let name = try text()
        guard let space = NamedColorSpace(rawValue: name) else {
            guard name.isEmpty else { throw WireError.invalid("an unknown colour space") }
            return nil
        }
        return space
    }

    mutating func info() throws -> ImageInfo {
        let format = try format()
        var info = ImageInfo(format: format, size: try size(), frameCount: try int(0...Int.max))
        info.loopCount = try optionalInt()
        info.hasAlpha = try bool()
        info.bitsPerChannel = try int(1...64)
        guard let orientation = Orientation(rawValue: try int()) else { throw WireError.invalid("an orientation") }
        info.orientation = orientation
        info.colorSpace =
            switch try int(0...3) {
            case 0: .sRGB
            case 1: .gray
            case 2: .cmyk
            default: .icc(ICCProfile.clean(try text()))
            }
        info.isVector = try bool()
        info.isPreview = try bool()
        info.hasGainMap = try bool()
        return info
    }
}

// MARK: - Errors

extension String {
    /// The text as far as a message has room for it.
    fileprivate var wire: String { String(decoding: utf8.prefix(1000), as: UTF8.self) }
}

/// An error of a coder in a worker that is of no type of the library, by its text.
struct WorkerError: Error, CustomStringConvertible {
    let description: String
}

extension KeyEncoder {
    mutating func encode(wire error: any Error) {
        switch error {
        case CodecError.notAnImage(let what):
            encode(0)
            encode(what.wire)
        case CodecError.unsupportedFormat(let format, let product):
            encode(1)
            encode(wire: format)
            encode((product ?? "").wire)
        case CodecError.damaged(let format, let reason):
            encode(2)
            encode(wire: format)
            encode(reason.wire)
        case CodecError.limitExceeded(let what, let value, let limit):
            encode(3)
            encode(what.wire)
            encode(value)
            encode(limit)
        case BitmapError.invalidSize(let size):
            encode(4)
            encode(size)
        case BitmapError.invalidSource(let size):
            encode(5)
            encode(size)
        case BitmapError.outOfMemory(let bytes):
            encode(6)
            encode(bytes)
        case is CancellationError: encode(7)
        case CodecError.encodingFailed(let format, let reason):
            encode(9)
            encode(wire: format)
            encode(reason.wire)
        case CodecError.loaderMissing(let format):
            encode(10)
            encode(wire: format)
        default:
            encode(8)
            encode("\(error)".wire)
        }
    }
}

extension WireReader {
    mutating func error() throws -> any Error {
        switch try int() {
        case 0: return CodecError.notAnImage(try text())
        case 1:
            let (format, product) = (try format(), try text())
            return CodecError.unsupportedFormat(format, product: product.isEmpty ? nil : product)
        case 2: return CodecError.damaged(try format(), reason: try text())
        case 3: return CodecError.limitExceeded(try text(), value: try int(), limit: try int())
        case 4: return BitmapError.invalidSize(PixelSize(try int(), try int()))
        case 5: return BitmapError.invalidSource(PixelSize(try int(), try int()))
        case 6: return BitmapError.outOfMemory(bytes: try int())
        case 7: return CancellationError()
        case 8: return WorkerError(description: try text())
        case 9: return CodecError.encodingFailed(try format(), reason: try text())
        case 10: return CodecError.loaderMissing(try format())
        default: throw WireError.invalid("an unknown error")
        }
    }
}
