/// A method of an operation in one of the peers.
struct PeerIdiom: Decodable, Sendable {
    let name: String
    let note: String
    let isAlike: Bool
}
