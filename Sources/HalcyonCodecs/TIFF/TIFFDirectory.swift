#if TIFF
    import HalcyonImage

    /// The directory of a TIFF, which describes one page.
    struct TIFFDirectory {
        let offset: Int
        /// The offset of the next page's directory, 0 if there is none.
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

        /// Sets a tag.
        ///
        /// - Parameters:
        ///   - value: the first of `count` values; nil if it lies outside of the file.
        ///   - start: the offset of the values in the file.
        mutating func set(_ tag: Int, to value: Int?, count: Int, start: Int) {
            // XMP, IPTC, Photoshop's blocks and the ICC profile consist of single bytes.
            if [700, 33_723, 34_377, 34_675].contains(tag) {
                metadataByteCount = metadataByteCount.addingReportingOverflow(count).partialValue
                if metadataByteCount < 0 { metadataByteCount = .max }
                if tag == 34_675, profile == nil { profile = (start, count) }
            }
            guard let tag = Tag(rawValue: tag), let value, values[tag] == nil else { return }
            values[tag] = value
        }

        /// The stored size, empty if the directory does not declare one.
        var size: PixelSize { PixelSize(values[.width] ?? 0, values[.height] ?? 0) }

        /// The size of a tile, which may be larger than the image; nil for strips, which are never higher than the
        /// image.
        var tile: PixelSize? {
            guard let width = values[.tileWidth], let height = values[.tileHeight] else { return nil }
            return PixelSize(max(1, width), max(1, height))
        }

        /// The number of pixels of all tiles, or of the image if it has strips.
        var unpackedPixels: Int {
            guard let tile else { return size.area ?? .max }
            let columns = size.width / tile.width + (size.width % tile.width > 0 ? 1 : 0)
            let rows = size.height / tile.height + (size.height % tile.height > 0 ? 1 : 0)
            return 0.adding(columns, times: 0.adding(rows, times: tile.area ?? .max))
        }

        /// The size of a strip or a tile.
        private var unit: PixelSize {
            tile ?? PixelSize(size.width, min(size.height, max(1, values[.rowsPerStrip] ?? size.height)))
        }

        /// The number of bytes of a stored strip or tile with all its channels. libtiff allocates four channels even if
        /// there are fewer.
        var unitBytes: Int {
            let samples = max(4, values[.samples] ?? 1)
            return 0.adding(samples, times: 0.adding((max(bits, 1) + 7) / 8, times: unit.area ?? .max))
        }

        /// The number of bytes that libjpeg keeps of a strip or tile with several scans: two for each of four channels.
        /// A strip may be higher than it declares, up to the maximum height of a JPEG or the 100 MiB that libtiff
        /// allows.
        var jpegBytes: Int {
            guard values[.compression] == 6 || values[.compression] == 7 else { return 0 }
            return min(100 << 20, 0.adding(8, times: 0.adding(65_536, times: unit.width)))
        }

        /// The number of bits of a channel; 1 is the format's default.
        var bits: Int { values[.bits] ?? 1 }

        var orientation: Orientation { Orientation(rawValue: values[.orientation] ?? 1) ?? .up }

        /// Whether a grey or RGB page declares its first extra channel as alpha, premultiplied or not.
        var hasAlpha: Bool {
            let colors = [0: 1, 1: 1, 2: 3][values[.photometric] ?? -1]
            guard let colors, let samples = values[.samples], samples > colors else { return false }
            return [1, 2].contains(values[.extraSamples] ?? 0)
        }

        var hasPalette: Bool { values[.photometric] == 3 }

        /// Whether the page is a smaller copy of another page.
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
