import Foundation
import Halcyon

/// An image of the demo, with the outcome of each pass.
struct DemoItem: Sendable {
    /// The result of one pass.
    struct Outcome: Sendable {
        let milliseconds: Double
        let result: Result<ImageResponse, FailureReport>
    }

    let title: String
    let source: ImageSource
    /// The error code that the load must fail with; nil for an image that must load.
    let mustFail: String?
    var outcomes: [Outcome] = []

    /// Whether every pass ended as expected.
    var isAsExpected: Bool {
        outcomes.allSatisfy { outcome in
            switch outcome.result {
            case .success: mustFail == nil
            case .failure(let failure): mustFail == failure.code
            }
        }
    }

    /// The response of the first pass that succeeded.
    var response: ImageResponse? {
        for outcome in outcomes {
            if case .success(let response) = outcome.result { return response }
        }
        return nil
    }

    var failure: FailureReport? {
        for outcome in outcomes {
            if case .failure(let failure) = outcome.result { return failure }
        }
        return nil
    }
}
