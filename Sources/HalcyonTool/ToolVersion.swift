import Halcyon

/// What `halcyon --version` prints.
enum ToolVersion {
    static let text = HalcyonVersion.current
}
