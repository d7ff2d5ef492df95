import Foundation
import Halcyon

/// The coder of the format that `HALCYON_FUZZ_FORMAT` names, alone, so that every input is that format's.
private let coders: CoderRegistry = {
    let name = ProcessInfo.processInfo.environment["HALCYON_FUZZ_FORMAT"] ?? ""
    let all = CoderRegistry.standard().coders
    guard let format = ImageFormat(name: name), let coder = all.first(where: { $0.formats.contains(format) }) else {
        fatalError("HALCYON_FUZZ_FORMAT=\(name): this build has no coder for it")
    }
    return CoderRegistry([coder])
}()

/// Small, so that an input that declares much costs nothing.
private let limits = DecodeLimits(maximumPixels: 1 << 20, maximumFrames: 64)

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let data = Data(bytes: start, count: count)
    _ = try? coders.probe(data)
    var options = DecodeOptions(limits: limits)
    // What it says of itself must be what it is.
    if let image = try? coders.decode(data, options: options) {
        precondition(image.size == image.info.size)
        for index in 0..<min(image.animation?.frameCount ?? 0, 8) {
            if let frame = try? image.animation?.frame(at: index) { precondition(frame.size == image.size) }
        }
    }
    options.target = TargetSize(PixelSize(9, 5), mode: .fill)
    options.firstFrameOnly = true
    if let image = try? coders.decode(data, options: options) {
        precondition(image.width <= 9 && image.height <= 5)
    }
    cutOut(data)
    feed(data, options: DecodeOptions(limits: limits))
    return 0
}

/// A part, its colours as they are stored, and that part as a file with its profile and its orientation.
private func cutOut(_ data: Data) {
    let options = DecodeOptions(
        region: PixelRect(x: 1, y: 1, width: 7, height: 6), color: .asStored, firstFrameOnly: true, limits: limits)
    guard let part = try? coders.decode(data, options: options) else { return }
    precondition(part.width <= 7 && part.height <= 6)
    let format = part.info.format
    guard coders.canEncode(format),
        let file = try? coders.encode(part, as: format, options: EncodeOptions(keepsOrientation: true))
    else { return }
    guard let again = try? coders.decode(file) else { fatalError("what was written cannot be read") }
    precondition(again.size == part.size)
}

/// In two parts, as it would arrive; the whole must then be what a decode gives.
private func feed(_ data: Data, options: DecodeOptions) {
    guard let decoding = coders.makeProgressive(for: data, options: options) else { return }
    let half = data.count / 2
    do {
        try decoding.append(data.prefix(half))
        _ = try decoding.preview(context: .uncancellable)
        try decoding.append(data.dropFirst(half))
        _ = try decoding.preview(context: .uncancellable)
        let image = try decoding.finish(context: .uncancellable)
        let whole = try coders.decode(data, options: options)
        precondition(image.size == whole.size)
        precondition(image.withPixels { new in whole.withPixels { old in new.elementsEqual(old) } })
    } catch {}
}
