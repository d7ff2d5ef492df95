import ArgumentParser
import Halcyon

/// The options of a request, which apply to every source.
struct RequestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Scale to a box of pixels: WxH[:fit|fill|stretch].", valueName: "WxH[:mode]"))
    var resize: SizeArgument?

    @Option(
        name: .customLong("process"),
        help: ArgumentHelp(
            "Process, in order: \(ProcessorTable.help). 'halcyon processors' has the details.",
            valueName: "name[=value]"),
        transform: ProcessorArgument.init)
    var processors: [ProcessorArgument] = []

    @Option(
        help:
            "The maximum pixels of an image; a larger one is refused. (default: 268435456 decoded, 1073741824 in a file)"
    )
    var maxPixels: Int?

    @Option(help: "The maximum bytes of the decoded pixels; a larger image is scaled down. 64K, 10M, 1G.")
    var maxBytes: BytesArgument?

    @Option(help: "The expiration in the disk cache: 30s, 10m, 12h, 7d.")
    var ttl: TimeArgument?

    @Option(help: "The cache policy: default, reload, only-cache or no-store.")
    var policy: PolicyArgument = .default

    @Option(name: .customLong("header"), help: ArgumentHelp("Sent with each request.", valueName: "'Name: value'"))
    var headers: [HeaderArgument] = []

    @Option(help: "The maximum seconds of a whole transfer. (default: no limit)")
    var timeout: TimeArgument?

    @Option(help: "The number of attempts after the first. (default: 2)")
    var retries: Int?

    func validate() throws {
        if let retries, !(0...100).contains(retries) { throw ValidationError("--retries is 0 to 100.") }
        if let timeout, timeout.seconds == 0 { throw ValidationError("--timeout is more than 0.") }
        if let maxPixels, maxPixels < 1 { throw ValidationError("--max-pixels is more than 0.") }
        if let maxBytes, maxBytes.bytes == 0 { throw ValidationError("--max-bytes is more than 0.") }
    }

    /// Returns the processors of `--resize` and `--process`, in the order of application.
    ///
    /// - Throws: `FailureReport` if the file of a watermark cannot be read.
    func makeProcessors() throws -> [any ImageProcessor] {
        let resizing = resize.map { [$0.processor] } ?? []
        return resizing + (try processors.map { try $0.processor() })
    }

    func request(for source: ImageSource, processors: [any ImageProcessor]) -> ImageRequest {
        var request = ImageRequest(source, processors: processors)
        request.decode.maximumBytes = maxBytes.map { ByteLimit($0.bytes) }
        if let maxPixels {
            request.decode.limits.maximumPixels = maxPixels
            request.decode.limits.maximumSourcePixels = maxPixels
        }
        request.cachePolicy = policy.policy
        if let ttl { request.cachePolicy.diskExpiration = .seconds(ttl.seconds) }
        for header in headers { request.network.headers.append(header.name, header.value) }
        request.network.totalTimeout = timeout.map { .milliseconds(Int64(($0.seconds * 1000).rounded(.up))) }
        request.network.retries = retries
        return request
    }
}
