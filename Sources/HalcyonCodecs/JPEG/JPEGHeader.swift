#if JPEG
    import HalcyonImage

    /// What the segments before a JPEG's pixels say, read without libjpeg.
    struct JPEGHeader {
        /// As stored; nil until a frame header was found.
        private(set) var size: PixelSize?
        private(set) var bitsPerChannel = 8
        private(set) var componentCount = 0
        private(set) var orientation = Orientation.up
        private(set) var metadataByteCount = 0
        private var hasExif = false
        private var profile: [UInt8] = []
        private var hasProfile = false

        /// Profiles for printers reach a few megabytes; the name stands at the front.
        private static let maximumProfile = 1 << 20

        /// - Throws: `CodecError.damaged` where there is no whole frame header.
        init(_ reader: ByteReader) throws {
            var offset = 2
            while let segment = Segment(reader, at: offset) {
                // The pixels begin, or the file ends: nothing behind it is a header.
                if segment.marker == 0xDA || segment.marker == 0xD9 { break }
                try read(segment)
                offset = segment.end
            }
            guard let size else { throw Self.damaged("there is no frame header") }
            guard size.height > 0 else { throw Self.damaged("its height is missing") }
            guard size.width > 0 else { throw Self.damaged("its width is zero") }
        }

        var info: ImageInfo {
            ImageInfo(
                format: .jpeg, size: orientation.applied(to: size ?? PixelSize(0, 0)), bitsPerChannel: bitsPerChannel,
                orientation: orientation, colorSpace: colorSpace)
        }

        private var colorSpace: ColorSpace {
            if hasProfile { return .icc(profile.withUnsafeBytes { ICCProfile.name(of: ByteReader($0)) }) }
            switch componentCount {
            case 1: return .gray
            case 4: return .cmyk
            default: return .sRGB
            }
        }

        private mutating func read(_ segment: Segment) throws {
            let body = segment.body
            switch segment.marker {
            // Frame headers of every kind, but DHT, JPG and DAC, which share their range.
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(segment.marker):
                try readFrame(body)
            case 0xE1 where body.matches("Exif", at: 0):
                // The first one counts: later ones belong to embedded previews.
                if !hasExif { orientation = Exif.orientation(in: body) }
                hasExif = true
            case 0xE2 where body.matches("ICC_PROFILE", at: 0):
                hasProfile = true
                // Behind the name stand a zero, the number of this part and the number of parts. Writers put the
                // parts in order; where one did not, the name is lost, and nothing else.
                let rest = min(body.count, 14 + max(0, Self.maximumProfile - profile.count))
                profile.append(contentsOf: body.part(at: 14, length: rest - 14).bytes)
            default:
                break
            }
            if (0xE0...0xEF).contains(segment.marker) || segment.marker == 0xFE {
                metadataByteCount += segment.declaredLength
            }
        }

        private mutating func readFrame(_ body: ByteReader) throws {
            // Only the first one: a second is what libjpeg refuses.
            guard size == nil else { return }
            guard let bits = body.byte(0), let height = body.bigEndian16(1), let width = body.bigEndian16(3),
                let components = body.byte(5)
            else { throw Self.damaged("its frame header is cut off") }
            size = PixelSize(width, height)
            bitsPerChannel = bits
            componentCount = components
        }

        private static func damaged(_ reason: String) -> CodecError { .damaged(.jpeg, reason: reason) }
    }

    extension JPEGHeader {
        /// A marker and what belongs to it.
        private struct Segment {
            let marker: Int
            /// Shorter than declared where the data ends.
            let body: ByteReader
            let declaredLength: Int
            let end: Int

            /// The segment at or behind `offset`, as libjpeg looks for it: over anything that is no marker.
            init?(_ reader: ByteReader, at offset: Int) {
                var position = offset
                while let byte = reader.byte(position), let next = reader.byte(position + 1) {
                    // Restart markers, TEM and a second SOI stand alone; 00 and FF are no markers.
                    guard byte == 0xFF, next != 0, next != 0xFF, next != 1, !(0xD0...0xD8).contains(next) else {
                        position += 1
                        continue
                    }
                    marker = next
                    declaredLength = next == 0xD9 ? 2 : max(2, reader.bigEndian16(position + 2) ?? 2)
                    body = reader.part(at: position + 4, length: declaredLength - 2)
                    end = position + 2 + declaredLength
                    return
                }
                return nil
            }
        }
    }
#endif
