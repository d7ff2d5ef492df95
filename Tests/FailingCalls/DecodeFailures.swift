import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonImage

/// Reads and writes an image while calls fail: what comes is a typed error or the same image, and the next time the image.
struct DecodeFailures {
    let path: String
    let failure: Failure
    private let coders = CoderRegistry.standard()

    init(path: String, failure: Failure) {
        self.path = path
        self.failure = failure
    }

    private enum Outcome: Equatable {
        case image(Int)
        case error
        case wrong(String)
    }

    func run() {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return FailingCalls.say("wrong no \(path)") }
        let name = URL(filePath: path).lastPathComponent
        for (way, body) in [("decode", decode), ("encode", encode), ("arrive", arrive)] {
            // The first run makes the allocations that libraries make once and keep, so that they do not occur again.
            let expected = outcome { try body(data) }
            guard case .image = expected else {
                FailingCalls.say("wrong \(name) \(way): \(expected) while no call failed")
                continue
            }
            let counted = fresh(data, 0)
            failure.arm(first: 0)
            _ = outcome { try body(counted) }
            let calls = failure.disarm()
            for first in stride(from: 1, through: calls, by: failure.step) {
                FailingCalls.say("at \(name) \(way) \(first)")
                let copy = fresh(data, first)
                failure.arm(first: first)
                let failed = outcome { try body(copy) }
                failure.disarm()
                let next = outcome { try body(copy) }
                if failed != expected, failed != .error { FailingCalls.say("wrong \(name) \(way) \(first): \(failed)") }
                if next != expected { FailingCalls.say("wrong \(name) \(way) behind \(first): \(next)") }
            }
        }
    }

    /// The file with another date in its colour profile: conversions that are remembered call nothing.
    private func fresh(_ data: Data, _ number: Int) -> Data {
        guard let signature = data.range(of: Data("acsp".utf8)), signature.lowerBound >= 12 else { return data }
        var copy = data
        copy[signature.lowerBound - 1] = UInt8(truncatingIfNeeded: number)
        copy[signature.lowerBound - 3] = UInt8(truncatingIfNeeded: number >> 8)
        return copy
    }

    private func outcome(_ body: () throws -> Int) -> Outcome {
        do {
            return .image(try body())
        } catch is CodecError {
            return .error
        } catch is BitmapError {
            return .error
        } catch {
            return .wrong("\(error)")
        }
    }

    /// The pixels of all frames as a number.
    private func hash(_ image: Image) throws -> Int {
        var hasher = Hasher()
        image.bitmap.withPixels { hasher.combine(bytes: $0) }
        for index in 0..<(image.animation?.frameCount ?? 0) {
            try image.animation?.frame(at: index).withPixels { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }

    private func decode(_ data: Data) throws -> Int { try hash(try coders.decode(data)) }

    private func encode(_ data: Data) throws -> Int {
        let image = try coders.decode(data, options: DecodeOptions(target: TargetSize(PixelSize(16, 16))))
        let file = try coders.encode(image)
        var hasher = Hasher()
        file.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    private func arrive(_ data: Data) throws -> Int {
        guard let decoding = coders.makeProgressive(for: data) else { return 0 }
        try decoding.append(data.prefix(data.count / 2))
        _ = try decoding.preview(context: .uncancellable)
        try decoding.append(data.dropFirst(data.count / 2))
        return try hash(try decoding.finish(context: .uncancellable))
    }
}
