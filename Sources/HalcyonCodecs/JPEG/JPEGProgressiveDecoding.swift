#if JPEG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// A JPEG that is decoded while it arrives, at the size that a decode of the whole file would have.
    ///
    /// Memory: the output's pixels; for a file with scans also its coefficients, six bytes a pixel of the stored image.
    final class JPEGProgressiveDecoding: ProgressiveDecoding {
        private struct State {
            /// What came before the frame header was whole.
            var header = Data()
            var started: (plan: DecodePlan, stream: JPEGStream)?
            /// What the last preview showed: scans or rows.
            var shown = 0
        }

        private let options: DecodeOptions
        /// Held through a whole decode: two threads that decode the same stream have to wait for each other anyway.
        private let state = Lock(State())

        init(options: DecodeOptions) { self.options = options }

        func append(_ data: Data, context: WorkContext) throws {
            try state.withLock { state in
                if let (_, stream) = state.started { return try stream.append(data, context: context) }
                state.header.append(data)
                guard let plan = try plan(header: state.header) else { return }
                let stream = try JPEGStream(plan: plan)
                state.started = (plan, stream)
                try stream.append(state.header, context: context)
                state.header = Data()
            }
        }

        func preview(context: WorkContext) throws -> Image? {
            try state.withLock { state in
                guard let (plan, stream) = state.started else { return nil }
                let progress = stream.progress
                let shown = Int(progress.has_scans ? progress.scans : progress.rows)
                guard shown > state.shown else { return nil }
                let image = try Self.image(plan: plan, stream: stream, context: context)
                state.shown = shown
                return image
            }
        }

        func finish(context: WorkContext) throws -> Image {
            try state.withLock { state in
                guard let (plan, stream) = state.started, stream.progress.is_finished else {
                    throw CodecError.damaged(.jpeg, reason: "the file was cut off")
                }
                return try Self.image(plan: plan, stream: stream, context: context)
            }
        }

        /// Nil where the frame header has not come yet.
        private func plan(header: Data) throws -> DecodePlan? {
            let coder = JPEGCoder()
            guard let info = try? coder.probe(header) else {
                // What is no JPEG, or has a header without end, never becomes one.
                try options.limits.check(metadataBytes: header.count)
                return nil
            }
            try options.limits.check(info, metadataBytes: coder.metadataByteCount(header))
            return try DecodePlan(info: info, options: options, decoder: coder)
        }

        private static func image(plan: DecodePlan, stream: JPEGStream, context: WorkContext) throws -> Image {
            try context.checkCancellation()
            let native = try stream.bitmap(context: context)
            return Image(bitmap: try CoderRegistry.finish(native, plan: plan, context: context), info: plan.info)
        }
    }
#endif
