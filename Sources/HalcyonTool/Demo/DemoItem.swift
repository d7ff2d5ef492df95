import Foundation
import Halcyon

/// One image of the demo, and what came of it in each pass.
struct DemoItem: Sendable {
    /// What a pass brought.
    struct Outcome: Sendable {
        let milliseconds: Double
        let result: Result<ImageResponse, FailureReport>
    }

    let title: String
    let source: ImageSource
    /// The error code that this one must end with; nil for an image.
    let mustFail: String?
    var outcomes: [Outcome] = []

    /// Whether every pass ended as it must.
    var isAsExpected: Bool {
        outcomes.allSatisfy { outcome in
            switch outcome.result {
            case .success: mustFail == nil
            case .failure(let failure): mustFail == failure.code
            }
        }
    }

    /// The response of the first pass that has one.
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
