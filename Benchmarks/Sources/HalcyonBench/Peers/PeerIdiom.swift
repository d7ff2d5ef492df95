/// A way to do an operation with one of the peers.
struct PeerIdiom: Decodable, Sendable {
    let name: String
    let note: String
    let isAlike: Bool
}
