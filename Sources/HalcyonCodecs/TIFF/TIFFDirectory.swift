#if TIFF
    import HalcyonImage

    /// What one page of a TIFF says of itself.
    struct TIFFDirectory {
        let offset: Int
        /// Where the next page's stands, 0 where there is none.
        var next = 0
        private(set) var metadataByteCount = 0
        private(set) var profile: (start: Int, count: Int)?
        private var values: [Tag: Int] = [:]

        private enum Tag: Int {
            case subfile = 254
            case width = 256
            case height = 257
            case bits = 258
            case compression = 259
            case photometric = 262
            case orientation = 274
            case samples = 277
            case rowsPerStrip = 278
            case tileWidth = 322
            case tileHeight = 323
            case extraSamples = 338
        }

        init(offset: Int) { self.offset = offset }

        /// - Parameters:
        ///   - value: the first of `count`, nil where it is not there.
        ///   - start: where the values stand.
        mutating func set(_ tag: Int, to value: Int?, count: Int, start: Int) {
            // XMP, IPTC, Photoshop's blocks and the ICC profile are single bytes.
            if [700, 33_723, 34_377, 34_675].contains(tag) {
                metadataByteCount = metadataByteCount.addingReportingOverflow(count).partialValue
                if metadataByteCount < 0 { metadataByteCount = .max }
                if tag == 34_675, profile == nil { profile = (start, count) }
            }
            guard let tag = Tag(rawValue: tag), let value, values[tag] == nil else { return }
            values[tag] = value
        }

        /// As stored, empty where the directory does not say.
        var size: PixelSize { PixelSize(values[.width] ?? 0, values[.height] ?? 0) }

        /// The size of a tile, which may be larger than the image; nil for strips, which are never higher than it.
        var tile: PixelSize? {
            guard let width = values[.tileWidth], let height = values[.tileHeight] else { return nil }
            return PixelSize(max(1, width), max(1, height))
        }

        /// The pixels of all tiles, or of the image.
        var unpackedPixels: Int {
            guard let tile else { return size.area ?? .max }
            let columns = size.width / tile.width + (size.width % tile.width > 0 ? 1 : 0)
            let rows = size.height / tile.height + (size.height % tile.height > 0 ? 1 : 0)
            return 0.adding(columns, times: 0.adding(rows, times: tile.area ?? .max))
        }

        /// A strip or a tile.
        private var unit: PixelSize {
            tile ?? PixelSize(size.width, min(size.height, max(1, values[.rowsPerStrip] ?? size.height)))
        }

        /// Bytes of a strip or tile with all its channels, as it is stored. libtiff has room for four even where there are
        /// fewer.
        var unitBytes: Int {
            let samples = max(4, values[.samples] ?? 1)
            return 0.adding(samples, times: 0.adding((max(bits, 1) + 7) / 8, times: unit.area ?? .max))
        }

        /// The bytes that libjpeg keeps of a strip or tile with several scans: two for each of four channels.
        /// A strip may be longer than it says, up to what a JPEG can say, or what libtiff lets it have.
        var jpegBytes: Int {
            guard values[.compression] == 6 || values[.compression] == 7 else { return 0 }
            return min(100 << 20, 0.adding(8, times: 0.adding(65_536, times: unit.width)))
        }

        /// Bits of one channel; 1 is the format's default.
        var bits: Int { values[.bits] ?? 1 }

        var orientation: Orientation { Orientation(rawValue: values[.orientation] ?? 1) ?? .up }

        /// Of grey and colour with a first extra channel that is said to be alpha, multiplied or not.
        var hasAlpha: Bool {
            let colors = [0: 1, 1: 1, 2: 3][values[.photometric] ?? -1]
            guard let colors, let samples = values[.samples], samples > colors else { return false }
            return [1, 2].contains(values[.extraSamples] ?? 0)
        }

        var hasPalette: Bool { values[.photometric] == 3 }

        /// Whether it is a smaller copy of another page.
        var isPreview: Bool { (values[.subfile] ?? 0) & 1 != 0 }

        var colorSpace: ColorSpace {
            switch values[.photometric] {
            case 0, 1: .gray
            case 5: .cmyk
            default: .sRGB
            }
        }
    }
#endif
