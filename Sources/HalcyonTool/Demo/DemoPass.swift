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
