/// The operations that the peers offer.
struct PeerList: Decodable, Sendable {
    let versions: String
    /// The methods by the operation's name.
    let operations: [String: [PeerIdiom]]
}
