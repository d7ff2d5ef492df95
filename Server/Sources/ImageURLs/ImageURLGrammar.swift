/// A language of URLs that ask for a picture: imgproxy's, thumbor's or Halcyon's own.
public protocol ImageURLGrammar: Sendable {
    /// The keys of its signatures.
    var keys: URLKeys { get }

    /// The job that a path asks for, with its signature verified. Cost: one pass over the path.
    ///
    /// Whether the job has expired and its source may be read are questions of their own: ``ImageJob/isExpired(now:)`` and
    /// ``SourceRules``.
    ///
    /// - Parameter path: the request's target as it came, with its leading slash and not decoded.
    func job(at path: String) throws(ImageURLError) -> ImageJob

    /// The path with its signature in front.
    ///
    /// - Parameter path: everything behind the signature, from its leading slash on.
    /// - Returns: with the word `unsafe` in place of a signature if there is no key.
    func signed(_ path: String) -> String
}

extension ImageURLGrammar {
    public func signed(_ path: String) -> String {
        let slashed = path.hasPrefix("/") ? path : "/" + path
        return "/" + (keys.signature(of: slashed) ?? "unsafe") + slashed
    }
}

/// A request's target in a form that can be taken apart: bounded, and of printable ASCII alone.
struct RequestPath {
    /// The target as it came.
    let original: String
    /// With all that is not ASCII percent-encoded, as most clients send it.
    let text: Substring

    init(_ path: String) throws(ImageURLError) {
        guard path.utf8.count <= ImageJob.Bounds.path else { throw .tooLong }
        guard path.utf8.first == UInt8(ascii: "/") else { throw .path("it does not begin with a slash") }
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .path("it has spaces or control characters")
        }
        original = path
        text = path.utf8.allSatisfy { $0 < 0x80 } ? Substring(path) : Substring(try AddressText.encoded(path))
    }
}

/// The signature in the first part of a path, and the rest in the forms that it may have been signed in.
struct SignedPath {
    let signature: Substring
    /// Everything behind the signature as it came, from its leading slash on.
    let rest: Substring

    /// - Parameter text: a path with its leading slash.
    init(_ text: Substring) throws(ImageURLError) {
        let behind = text.dropFirst()
        guard let slash = behind.firstIndex(of: "/"), slash != behind.startIndex,
            behind.index(after: slash) != behind.endIndex
        else { throw .path("the signature or what follows it is missing") }
        (signature, rest) = (behind[..<slash], behind[slash...])
    }

    /// The form of the rest that the signature is valid for, or the last form where signatures are not asked for.
    ///
    /// - Parameter repaired: the rest as it was before proxies tidied it.
    func verified(by keys: URLKeys, repaired: Substring) throws(ImageURLError) -> Substring {
        let forms = repaired == rest ? [rest] : [rest, repaired]
        let name = AddressText.percentDecoded(signature) ?? String(signature)
        if let index = keys.firstSigned(forms.map(String.init), by: name) { return forms[index] }
        guard keys.admitsUnsigned(name) else { throw .signature }
        return repaired
    }
}
