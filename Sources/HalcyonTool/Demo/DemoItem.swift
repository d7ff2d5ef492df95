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

/// The demo's three passes over all images.
enum DemoPass: Int, CaseIterable, Sendable {
    case cold, disk, memory

    var title: String {
        switch self {
        case .cold: "cold: everything comes over the network"
        case .disk: "memory cleared: everything comes from disk"
        case .memory: "warm: everything is in memory"
        }
    }

    /// The name for labels.
    var short: String {
        switch self {
        case .cold: "net"
        case .disk: "disk"
        case .memory: "mem"
        }
    }
}
