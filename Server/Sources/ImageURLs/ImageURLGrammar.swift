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
    /// The target with all that is not ASCII percent-encoded, as most clients send it.
    let text: Substring
    /// The target as it came, `nil` if that is the text.
    let original: Substring?

    /// - Parameter hasQuery: whether a query belongs to what the path asks for. It is left out otherwise.
    init(_ path: String, hasQuery: Bool = false) throws(ImageURLError) {
        guard path.utf8.count <= ImageJob.Bounds.path else { throw .tooLong }
        guard path.utf8.first == UInt8(ascii: "/") else { throw .path("it does not begin with a slash") }
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .path("it has spaces or control characters")
        }
        let end = hasQuery ? nil : path.utf8.firstIndex(of: UInt8(ascii: "?"))
        let target = path[..<(end ?? path.utf8.endIndex)]
        let isPlain = target.utf8.allSatisfy { $0 < 0x80 }
        text = isPlain ? target : Substring(try AddressText.encoded(String(target)))
        original = isPlain ? nil : target
    }
}

/// The signature in the first part of a path, and the rest in the forms that it may have been signed in.
struct SignedPath {
    let signature: Substring
    /// Everything behind the signature, from its leading slash on.
    let rest: Substring
    private let original: Substring?

    init(_ path: RequestPath) throws(ImageURLError) {
        let behind = path.text.dropFirst()
        guard let slash = behind.firstIndex(of: "/"), slash != behind.startIndex,
            behind.index(after: slash) != behind.endIndex
        else { throw .path("the signature or what follows it is missing") }
        (signature, rest) = (behind[..<slash], behind[slash...])
        original = path.original.flatMap { text in
            let start = text.utf8.index(after: text.utf8.startIndex)
            return text.utf8[start...].firstIndex(of: UInt8(ascii: "/")).map { text[$0...] }
        }
    }

    /// The form of the rest that the signature is valid for. Without one, the repaired form if no signature is asked for.
    ///
    /// - Parameters:
    ///   - name: the signature, without the percent-encoding that a client gave it.
    ///   - repaired: the rest as it was before proxies tidied it.
    func verified(by keys: URLKeys, name: String, repaired: Substring) throws(ImageURLError) -> Substring {
        var forms = [(signed: rest, read: rest)]
        if repaired != rest { forms.append((repaired, repaired)) }
        if let original { forms.append((original, rest)) }
        if let index = keys.firstSigned(forms.map { String($0.signed) }, by: name) { return forms[index].read }
        guard keys.admitsUnsigned(name) else { throw .signature }
        return repaired
    }
}
