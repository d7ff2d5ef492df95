import Foundation
import Halcyon

/// What `HALCYON_FUZZ_TARGET` names: a format whose decoder is run, or one of the other readers of foreign bytes.
private let target: any FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["HALCYON_FUZZ_TARGET"] ?? ""
    if let format = ImageFormat(name: name), let images = ImageTarget(format) { return images }
    guard let other = OtherTarget(rawValue: name) else { fatalError("HALCYON_FUZZ_TARGET=\(name) is none") }
    return other
}()

/// Reads one input in every way that there is. What it finds wrong ends the process.
protocol FuzzTarget: Sendable {
    func run(_ data: Data)
}

/// The thread that inputs are read on, with the stack of a worker thread: an input that needs more of it ends a program.
private let worker = FuzzWorker()

private final class FuzzWorker: @unchecked Sendable {
    /// That of the library's own threads.
    private static let stackSize = 8 << 20

    private let next = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    /// Written while the other side waits.
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
        // The leak sanitizer does not take a `Data`'s reference for a pointer.
        input = Data()
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    worker.run(Data(bytes: start, count: count))
    return 0
}
