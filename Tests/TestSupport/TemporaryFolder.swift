import Foundation

/// A folder that does not exist yet, and goes with this.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() {
        url = PipelineFixture.temporaryFolder()
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
