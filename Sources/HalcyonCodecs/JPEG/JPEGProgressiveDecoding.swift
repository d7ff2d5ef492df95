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
            /// What came before the header was whole; of a file that cannot be read in parts all that came.
            var header = Data()
            var isReadWhole = false
            var started: (plan: DecodePlan, stream: JPEGStream, color: ColorTransform?)?
            /// What the last preview showed: scans or rows.
            var shown = 0
        }

        private let options: DecodeOptions
        /// Held through a whole decode: two threads that decode the same stream have to wait for each other anyway.
        private let state = Lock(State())

        init(options: DecodeOptions) { self.options = options }

        func append(_ data: Data, context: WorkContext) throws {
            try state.withLock { state in
                if let (_, stream, _) = state.started { return try stream.append(data, context: context) }
                state.header.append(data)
                guard !state.isReadWhole, let plan = try plan(header: state.header) else { return }
                state.isReadWhole = state.header.read { try? JPEGHeader($0).isArithmetic } == true
                if state.isReadWhole { return }
                let stream = try JPEGStream(plan: plan, ink: JPEGCoder.inkTransform(for: state.header))
                state.started = (
                    plan, stream, ColorTransforms.shared.transform(for: plan, of: state.header, JPEGCoder())
                )
                try stream.append(state.header, context: context)
                state.header = Data()
            }
        }

        func preview(context: WorkContext) throws -> Image? {
            try state.withLock { state in
                guard let (plan, stream, color) = state.started else { return nil }
                let progress = stream.progress
                let shown = Int(progress.has_scans ? progress.scans : progress.rows)
                guard shown > state.shown else { return nil }
                let image = try Self.image(plan, stream, color, isPreview: true, context: context)
                state.shown = shown
                return image
            }
        }

        func finish(context: WorkContext) throws -> Image {
            try state.withLock { state in
                if state.isReadWhole {
                    return try CoderRegistry([JPEGCoder()]).decode(state.header, options: options, context: context)
                }
                guard let (plan, stream, color) = state.started, stream.progress.is_finished else {
                    throw CodecError.damaged(.jpeg, reason: "the file was cut off")
                }
                return try Self.image(plan, stream, color, isPreview: false, context: context)
            }
        }

        /// Nil where the pixels have not begun yet: a profile may stand behind the frame header.
        private func plan(header: Data) throws -> DecodePlan? {
            let coder = JPEGCoder()
            guard let info = try? coder.probe(header), header.read({ try? JPEGHeader($0).isWhole }) == true else {
                // What is no JPEG, or has a header without end, never becomes one.
                try options.limits.check(metadataBytes: header.count)
                return nil
            }
            try options.limits.check(info, metadataBytes: coder.metadataByteCount(header))
            return try DecodePlan(info: info, options: options, decoder: coder)
        }

        private static func image(
            _ plan: DecodePlan, _ stream: JPEGStream, _ color: ColorTransform?, isPreview: Bool, context: WorkContext
        ) throws -> Image {
            try context.checkCancellation()
            let native = try stream.bitmap(context: context)
            var info = plan.info
            info.isPreview = isPreview
            return Image(
                bitmap: try CoderRegistry.finish(native, plan: plan, color: color, context: context), info: info)
        }
    }
#endif
