import CHalcyonCodecs

/// The coders that a registry has from the start.
package enum BuiltInCoders {
    /// The coders of this module and of the modules for more formats that are linked. The most common format comes last,
    /// because the last one is asked first.
    package static var all: [any ImageCoder] {
        linked + [QOICoder(), ICOCoder(), BMPCoder(), GIFCoder(), WebPCoder(), PNGCoder(), JPEGCoder()]
    }

    private static var linked: [any ImageCoder] {
        (0..<halcyon_linked_coder_count()).compactMap { index in
            halcyon_linked_coder(index).map { Unmanaged<LinkedCoder>.fromOpaque($0).takeRetainedValue().coder }
        }
    }
}

/// The coder of a module that may be linked or not, on its way through the C function by which this module finds it.
package final class LinkedCoder {
    fileprivate let coder: any ImageCoder

    /// Returns a coder to the C function.
    package static func pass(_ coder: any ImageCoder) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(LinkedCoder(coder)).toOpaque()
    }

    private init(_ coder: any ImageCoder) { self.coder = coder }
}
