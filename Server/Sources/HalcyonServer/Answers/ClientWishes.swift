import HTTPTypes
import ImageURLs

/// The client's part in an answer: the formats that it takes, its screen, and whether it saves bytes.
struct ClientWishes: Hashable, Sendable {
    let accept: AcceptField
    /// Device pixels in a pixel, and the width of the picture in the layout in device pixels; nil without hints.
    var ratio: Double?
    var width: Int?
    var savesData = false

    /// - Parameter usesHints: whether hints count.
    init(_ fields: HTTPFields, usesHints: Bool) {
        accept = AcceptField(fields[.accept])
        guard usesHints else { return }
        savesData = fields[.saveData]?.lowercased() == "on"
        ratio = fields[.clientRatio].flatMap { Double($0) }
        width = fields[.clientWidth].flatMap { Int($0) }
        guard savesData else { return }
        // A client that saves bytes gets no more pixels than its layout has.
        if let ratio, let width, width > 0, ratio > 1, ratio.isFinite {
            self.width = max(1, Int(Double(width) / ratio))
        }
        ratio = nil
    }

    /// Returns the fields that the answer to a job depends on, as the value of `Vary`; nil if there are none.
    ///
    /// - Parameter job: nil for facts alone, which are the same for all clients.
    static func vary(_ job: ImageJob?, _ configuration: ServerConfiguration) -> String? {
        var names: [String] = []
        if let job {
            if FormatChoice.depends(on: job) { names.append("Accept") }
            if configuration.answer.usesClientHints, !job.raw { names += ["Sec-CH-DPR", "Sec-CH-Width", "Save-Data"] }
        }
        // The source's server may answer by them, also if this client has none.
        names += configuration.source.passHeaders.filter { HTTPField.Name($0) != nil && !names.contains($0) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Returns the job for the client.
    ///
    /// - Parameter quality: returns the quality of a format where neither the URL nor the client asks for another one.
    func applied(to job: ImageJob, quality: (ImageJob.Format) -> Int) -> ImageJob {
        var job = job.applying(dpr: ratio, width: width)
        guard savesData, job.output.quality == nil, job.output.target == nil else { return job }
        for format in ImageJob.Format.allCases where job.output.formatQuality[format] == nil {
            job.output.formatQuality[format] = max(1, quality(format) * 3 / 4)
        }
        return job
    }
}

extension HTTPField.Name {
    static let saveData = named("Save-Data")
    static let clientRatio = named("Sec-CH-DPR")
    static let clientWidth = named("Sec-CH-Width")
    static let acceptClientHints = named("Accept-CH")
    static let requestID = named("X-Request-Id")
    static let contentTypeOptions = named("X-Content-Type-Options")

    /// - Parameter name: a token, as all names here are.
    private static func named(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no field's name") }
        return name
    }
}
