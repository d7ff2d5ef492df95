import Foundation
import Halcyon

/// The headers of files for the loaders of the system, and the plans that are made from them. Both are read in the program's own
/// process; a loader never is.
enum LoaderHeaders {
    private static let coders: CoderRegistry = {
        guard let coder = CoderRegistry.standard().coders.first(where: { $0.formats.contains(.pnm) }) else {
            fatalError("HalcyonGdkPixbuf is not linked")
        }
        return CoderRegistry([coder], budget: DecodeBudget(capacity: 256 << 20))
    }()
    private static let limits = DecodeLimits(maximumPixels: 1 << 20)

    static func read(_ data: Data) {
        // Headers are read of what has arrived, too.
        for count in [data.count / 2, data.count - 1] where count > 0 { _ = try? coders.probe(data.prefix(count)) }
        let info = try? coders.probe(data)
        if let info { precondition(!info.size.isEmpty && info.frameCount == 1) }
        for options in [
            DecodeOptions(), DecodeOptions(limits: limits),
            DecodeOptions(target: TargetSize(PixelSize(9, 5), mode: .fill), limits: limits),
            DecodeOptions(target: TargetSize(PixelSize(16, 16), light: .linear), limits: limits),
            DecodeOptions(region: PixelRect(x: 1, y: 1, width: 7, height: 6), limits: limits),
        ] {
            guard let plan = try? coders.plan(data, options: options) else { continue }
            precondition(plan.info == info && plan.workingBytes > 0)
            precondition(!plan.finalSize.isEmpty && plan.nativeSize.width <= plan.storedSize.width)
        }
    }
}
