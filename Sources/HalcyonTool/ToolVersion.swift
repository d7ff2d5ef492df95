import Halcyon

/// The output of `halcyon --version`.
enum ToolVersion {
    static let text = HalcyonVersion.current
}
