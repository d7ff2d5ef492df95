#if TIFF
    import Foundation
    import HalcyonImage

    /// The pages of a TIFF, read without libtiff.
    struct TIFFHeader {
        /// The first page, and those that are as large and stand like it.
        private(set) var pages: [TIFFDirectory]
        private(set) var metadataByteCount = 0
        private let profile: Data?

        /// Directories may form a ring, or overlap by the million.
        private static let maximumDirectories = 20_000

        /// - Throws: `CodecError.damaged` where the first page's directory is not there or says no size.
        init(_ reader: ByteReader) throws {
            guard let fields = TIFFFields(reader), let first = fields.directory(at: fields.firstDirectory) else {
                throw Self.damaged("its directory is cut off")
            }
            let sides = 1...Int(Int32.max)
            guard sides.contains(first.size.width), sides.contains(first.size.height) else {
                throw Self.damaged("its size is zero")
            }
            pages = [first]
            metadataByteCount = first.metadataByteCount
            // What is longer is refused by its metadata.
            profile = first.profile.map { Data(fields.part(at: $0.start, length: min($0.count, 16 << 20)).bytes) }
            var seen: Set<Int> = [first.offset]
            var next = first.next
            while next != 0, seen.count < Self.maximumDirectories, seen.insert(next).inserted {
                guard let page = fields.directory(at: next) else { break }
                next = page.next
                if page.size == first.size, page.orientation == first.orientation, !page.isPreview {
                    pages.append(page)
                }
            }
        }

        var info: ImageInfo {
            let first = pages[0]
            return ImageInfo(
                format: .tiff, size: first.orientation.applied(to: first.size), frameCount: pages.count,
                loopCount: pages.count > 1 ? 1 : nil, hasAlpha: pages.contains { $0.hasAlpha },
                bitsPerChannel: min(max(first.bits, 1), 16), orientation: first.orientation,
                colorSpace: profile.map { .icc($0.read { ICCProfile.name(of: $0) }) } ?? first.colorSpace)
        }

        var extent: CodedExtent {
            var extent = CodedExtent(largest: pages[0].size, totalPixels: 0)
            for page in pages { extent.add(page.tile ?? page.size, pixels: page.unpackedPixels) }
            return extent
        }

        var colorProfile: ColorProfile? {
            let model: ColorModel = [.gray: .gray, .cmyk: .cmyk][pages[0].colorSpace] ?? .rgb
            return profile.map { .icc($0, model) }
        }

        private static func damaged(_ reason: String) -> CodecError { .damaged(.tiff, reason: reason) }
    }
#endif
