import Dispatch
import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem
import HalcyonTesting
import TestSupport

/// PNGs, with the first run of one of its steps held until a test releases it.
///
/// Another thread stands in for the one that is held: on a single processor there is only one that decodes.
final class HeldDecoder: ProgressiveImageDecoder {
    enum Step: Sendable {
        case plan, decode, preview
    }

    let hasCome = ScriptedTransportGate()
    let decodes = Counter()
    /// The bytes that each preview was made of.
    let previewed = Lock<[Int]>([])
    private let held: Step
    private let mayGo = DispatchSemaphore(value: 0)
    private let isHeld = Lock(true)
    private let coders = CoderRegistry.standard()

    init(holding held: Step) {
        self.held = held
    }

    func release() { mayGo.signal() }

    var formats: [ImageFormat] { [.png] }

    func canDecode(_ data: Data) -> Bool { coders.decoder(for: data).map { $0.formats.contains(.png) } ?? false }

    func probe(_ data: Data) throws -> ImageInfo {
        hold(at: .plan)
        return try coders.probe(data)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        decodes.increment()
        hold(at: .decode)
        return try coders.decode(data).bitmap
    }

    func makeProgressive(options: DecodeOptions, budget: DecodeBudget) -> any ProgressiveDecoding {
        Progressive(decoder: self)
    }

    fileprivate func hold(at step: Step) {
        guard step == held,
            isHeld.withLock({ isHeld in
                defer { isHeld = false }; return isHeld
            })
        else { return }
        hasCome.open()
        ThreadPool.blocking { mayGo.wait() }
    }
}

/// Shows the same whatever has come.
private final class Progressive: ProgressiveDecoding {
    private let decoder: HeldDecoder
    private let received = Lock(0)

    init(decoder: HeldDecoder) {
        self.decoder = decoder
    }

    func append(_ data: Data, context: WorkContext) throws {
        received.withLock { $0 += data.count }
    }

    func preview(context: WorkContext) throws -> Image? {
        let received = received.withLock { $0 }
        decoder.previewed.withLock { $0.append(received) }
        decoder.hold(at: .preview)
        let bitmap = try Bitmap(size: PixelSize(1, 1), isOpaque: true, pixels: [0, 0, 0, 255])
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: PixelSize(1, 1)))
    }

    func finish(context: WorkContext) throws -> Image { throw CodecError.damaged(.png, reason: "it has no end") }
}
