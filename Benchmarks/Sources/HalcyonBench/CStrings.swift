import Glibc

/// A null-terminated array of C strings.
///
/// `@unchecked Sendable` because the strings are only read.
final class CStrings: @unchecked Sendable {
    private let pointers: [UnsafePointer<CChar>?]

    init(_ strings: [String]) {
        pointers = strings.map { UnsafePointer(strdup($0)) } + [nil]
    }

    deinit {
        for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) }
    }

    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
