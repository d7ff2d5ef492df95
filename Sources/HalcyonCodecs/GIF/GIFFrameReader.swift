#if GIF
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    extension GIFCoder: AnimatedImageDecoder {
        package func frames(of data: Data, info: ImageInfo) throws -> any FrameReader {
            let header = try data.read { try GIFHeader($0, keepsFrames: true) }
            guard !header.frames.isEmpty else { throw CodecError.damaged(.gif, reason: "its first frame was cut off") }
            return GIFFrameReader(data: data, header: header)
        }
    }

    /// The frames of a GIF, each decoded alone: giflib reads the head of the file, then that frame.
    struct GIFFrameReader: FrameReader {
        let frames: [AnimationFrame]
        private let data: Data
        private let entries: [GIFFrameEntry]
        private let headByteCount: Int

        init(data: Data, header: GIFHeader) {
            self.data = data
            entries = header.frames
            headByteCount = header.headByteCount
            frames = entries.map { entry in
                AnimationFrame(
                    // A frame outside the canvas shows nothing for its duration.
                    rect: entry.rect ?? PixelRect(x: 0, y: 0, width: 1, height: 1),
                    duration: .milliseconds(entry.delay * 10), disposal: Self.disposal(entry), blend: .over)
            }
        }

        func pixels(at index: Int, context: WorkContext) throws -> Bitmap {
            let entry = entries[index]
            guard let rect = entry.rect else {
                return try Bitmap(size: PixelSize(1, 1), isOpaque: false, pixels: [0, 0, 0, 0])
            }
            return try data.withUnsafeBytes { bytes in
                try GIFSource.withFile(bytes, jump: (from: headByteCount, to: entry.offset)) { file in
                    let frame = try GIFFrame(nextOf: file, transparentIndex: entry.transparentIndex)
                    return try frame.atOrigin.draw(on: rect.size, from: file, context: context)
                }
            }
        }

        /// Returns the disposal of a frame. Values that the format leaves undefined keep the frame, as in browsers.
        private static func disposal(_ entry: GIFFrameEntry) -> AnimationFrame.Disposal {
            guard entry.rect != nil else { return .keep }
            switch entry.disposal {
            case 2: return .clear
            case 3: return .restore
            default: return .keep
            }
        }
    }
#endif
