import HalcyonNetwork

extension ImageSource {
    /// Whether what one server may see, the other may.
    func isSameOrigin(as other: ImageSource) -> Bool {
        guard case .remote(let left) = self, case .remote(let right) = other else { return false }
        return left.webOrigin == right.webOrigin
    }
}
