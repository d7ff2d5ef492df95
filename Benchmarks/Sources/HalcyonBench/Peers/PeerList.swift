/// What the peers can do.
struct PeerList: Decodable, Sendable {
    let versions: String
    /// By the operation's name.
    let operations: [String: [PeerIdiom]]
}
