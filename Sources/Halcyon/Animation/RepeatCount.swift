/// How often an animation plays.
public enum RepeatCount: Hashable, Sendable {
    /// As its file says.
    case file
    case infinite
    case once
    /// So many times; 1 for numbers below.
    case finite(Int)

    /// 0 is for ever.
    func loops(ofFile count: Int) -> Int {
        switch self {
        case .file: max(0, count)
        case .infinite: 0
        case .once: 1
        case .finite(let count): max(1, count)
        }
    }
}
