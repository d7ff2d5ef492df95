import Foundation
import Halcyon
import HalcyonTesting

/// A processor that counts its runs and changes nothing.
public struct CountingProcessor: ImageProcessor {
    public let name: String
    public let runs: Counter

    public init(_ name: String, runs: Counter) {
        self.name = name
        self.runs = runs
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "test.counting", version: 1)
        key.encode(name)
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        runs.increment()
        return image
    }
}

/// A processor that fails.
public struct FailingProcessor: ImageProcessor {
    public struct Failure: Error, CustomStringConvertible {
        public let description = "it does not want to"
    }

    public init() {}

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "test.failing", version: 1)
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        throw Failure()
    }
}
