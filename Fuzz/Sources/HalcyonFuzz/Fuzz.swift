import Foundation
import Halcyon

/// The target that `HALCYON_FUZZ_TARGET` names: a format's decoder, or one of the other parsers of untrusted bytes.
private let target: any FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["HALCYON_FUZZ_TARGET"] ?? ""
    if let format = ImageFormat(name: name), let images = ImageTarget(format) { return images }
    guard let other = OtherTarget(rawValue: name) else { fatalError("HALCYON_FUZZ_TARGET=\(name) is none") }
    return other
}()

/// A parser under test, which reads one input in every way. A failed check ends the process.
protocol FuzzTarget: Sendable {
    func run(_ data: Data)
}

/// The thread that inputs are read on, with the stack size of a worker thread: an input that needs more crashes.
private let worker = FuzzWorker()

private final class FuzzWorker: @unchecked Sendable {
    /// The stack size of the library's own threads, in bytes.
    private static let stackSize = 8 << 20

    private let next = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    /// The current input; written while the other thread waits.
    private var input = Data()

    init() {
        let thread = Thread { [self] in
            while true {
                next.wait()
                target.run(input)
                done.signal()
            }
        }
        thread.stackSize = Self.stackSize
        thread.start()
    }

    func run(_ data: Data) {
        input = data
        next.signal()
        done.wait()
        // Releases the input, as the leak sanitizer does not recognize a `Data`'s reference as a pointer.
        input = Data()
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    worker.run(Data(bytes: start, count: count))
    return 0
}
