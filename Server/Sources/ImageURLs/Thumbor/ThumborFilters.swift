import Foundation

/// The filters of a URL, which are applied to a job in their order.
struct ThumborFilters {
    private(set) var job: ImageJob
    /// The address of a watermark as a source's.
    private let address: (String) throws(ImageURLError) -> String
    private var regions: [ImageJob.Box] = []

    init(job: ImageJob, address: @escaping (String) throws(ImageURLError) -> String) {
        (self.job, self.address) = (job, address)
    }

    /// - Parameter text: `name(arguments):name(arguments)`, percent-encoded.
    mutating func apply(_ text: Substring) throws(ImageURLError) {
        guard let decoded = AddressText.percentDecoded(text) else {
            throw .invalid("filters", text, "the percent-encoding is not valid")
        }
        let calls = Self.calls(in: decoded)
        guard calls.count <= ImageJob.Bounds.options else { throw .tooManyOptions }
        for call in calls {
            guard let open = call.utf8.firstIndex(of: UInt8(ascii: "(")), call.hasSuffix(")") else {
                throw .invalid("filters", call, "'name(arguments)' is expected")
            }
            let values = Self.values(call[call.utf8.index(after: open)...].dropLast())
            guard values.count <= ImageJob.Bounds.options else { throw .tooManyOptions }
            try apply(Arguments(call[..<open], values))
        }
        if !regions.isEmpty { job.gravity = .regions(regions) }
    }

    /// The texts between `):`, each with its closing bracket.
    private static func calls(in text: String) -> [Substring] {
        var calls: [Substring] = []
        var rest = Substring(text)
        while let mark = rest.range(of: "):") {
            calls.append(rest[..<rest.utf8.index(before: mark.upperBound)])
            rest = rest[mark.upperBound...]
        }
        return calls + [rest]
    }

    /// The arguments between commas, without the spaces and quotes around them. A comma within quotes divides nothing.
    private static func values(_ text: Substring) -> [Substring] {
        guard !text.utf8.allSatisfy({ $0 == 0x20 }) else { return [] }
        var values: [Substring] = []
        var start = text.utf8.startIndex
        var isQuoted = false
        for index in text.utf8.indices {
            if text.utf8[index] == UInt8(ascii: "'") { isQuoted.toggle() }
            guard !isQuoted, text.utf8[index] == UInt8(ascii: ",") else { continue }
            values.append(text[start..<index])
            start = text.utf8.index(after: index)
        }
        values.append(text[start...])
        return values.map { value in
            let bare = value.trimmingPrefix { $0 == " " }
            let end = bare.lastIndex { $0 != " " }.map { bare.index(after: $0) } ?? bare.startIndex
            let trimmed = bare[..<end]
            return trimmed.count > 2 && trimmed.hasPrefix("'") && trimmed.hasSuffix("'")
                ? trimmed.dropFirst().dropLast() : trimmed
        }
    }

    private mutating func apply(_ call: Arguments) throws(ImageURLError) {
        switch call.option {
        case "quality", "format", "max_bytes", "autojpg", "strip_exif", "strip_icc": try applyOutput(call)
        case "upscale", "no_upscale", "stretch", "focal", "proportion": try applySize(call)
        case "blur", "sharpen": try applySharpness(call)
        case "brightness", "contrast", "saturation", "rgb", "grayscale": try applyColor(call)
        case "fill", "background_color", "round_corner", "watermark", "rotate": try applyDrawing(call)
        default: throw .unknown("filters:\(call.option)")
        }
    }

    private mutating func applyOutput(_ call: Arguments) throws(ImageURLError) {
        switch call.option {
        case "quality": job.output.quality = try call.required(0, call.integer(0, in: 1...100), count: 1)
        case "max_bytes":
            let count = try call.required(0, call.integer(0, in: 0...Int(Int32.max)), count: 1)
            job.output.maxBytes = count == 0 ? nil : count
        case "format":
            try call.limited(to: 1)
            guard let format = call[0].flatMap({ ImageJob.Format(name: $0.lowercased()) }) else {
                throw call.failure(0, "a format is expected")
            }
            job.output.format = format
        case "autojpg":
            try call.limited(to: 1)
            job.output.opaqueAsJPEG = try call.truth(0) ?? true
        case "strip_icc":
            try call.limited(to: 0)
            job.metadata.stripProfile = true
        default:
            try call.limited(to: 0)
            job.metadata.strip = true
            job.metadata.keepCopyright = false
        }
    }

    private mutating func applySize(_ call: Arguments) throws(ImageURLError) {
        guard call.option != "focal" else {
            try call.limited(to: 1)
            let box = call[0].flatMap(ThumborPath.box)
            guard let box, [box.left, box.top, box.right, box.bottom].allSatisfy({ $0 <= ImageJob.Bounds.side }),
                box.right > box.left, box.bottom > box.top
            else { throw call.failure(0, "AxB:CxD is expected") }
            regions.append(box)
            return
        }
        guard call.option != "proportion" else {
            let factor = try call.required(0, call.number(0, in: 0...1), count: 1)
            guard factor > 0 else { throw call.failure(0, "a number above 0 is expected") }
            if factor < 1 { job.effects.append(.scale(factor)) }
            return
        }
        try call.limited(to: 0)
        switch call.option {
        case "upscale": job.resize.enlarge = true
        case "no_upscale": job.resize.staysWithinSource = true
        default: if job.resize.mode == .fill { job.resize.mode = .force }
        }
    }

    private mutating func applySharpness(_ call: Arguments) throws(ImageURLError) {
        if call.option == "blur" {
            try call.limited(to: 2)
            let radius = try call.required(0, call.integer(0, in: 1...ImageJob.Bounds.side))
            let sigma = try call.number(1, in: 0...ImageJob.Bounds.sigma) ?? 0
            let deviation = sigma == 0 ? Double(radius) : sigma
            guard deviation <= ImageJob.Bounds.sigma else { throw call.failure(0, "a smaller radius is expected") }
            // thumbor's kernel ends after 150 pixels.
            job.effects.append(.blur(sigma: deviation, radius: min(radius, 150)))
        } else {
            let amount = try call.required(0, call.number(0, in: 0...100), count: 3)
            let radius = try call.required(1, call.number(1, in: 0...100))
            let luminanceOnly = try call.required(2, call.truth(2))
            job.effects.append(.wavelet(amount: amount, radius: radius, luminanceOnly: luminanceOnly))
        }
    }

    private mutating func applyColor(_ call: Arguments) throws(ImageURLError) {
        let percent = -100...100
        switch call.option {
        case "brightness":
            job.effects.append(.brightness(try call.required(0, call.integer(0, in: percent), count: 1)))
        case "contrast": job.effects.append(.contrast(try call.required(0, call.integer(0, in: percent), count: 1)))
        case "saturation":
            job.effects.append(.saturation(try call.required(0, call.number(0, in: -100...100), count: 1)))
        case "rgb":
            let red = try call.required(0, call.integer(0, in: percent), count: 3)
            let green = try call.required(1, call.integer(1, in: percent))
            let blue = try call.required(2, call.integer(2, in: percent))
            job.effects.append(.channels(red: red, green: green, blue: blue))
        default:
            try call.limited(to: 0)
            job.effects.append(.grayscale)
        }
    }

    private mutating func applyDrawing(_ call: Arguments) throws(ImageURLError) {
        switch call.option {
        case "fill":
            try call.limited(to: 2)
            guard let fill = call[0].flatMap(Self.fill) else { throw call.failure(0, "a colour is expected") }
            job.effects.append(.fill(fill, behindTransparency: try call.truth(1) ?? false))
        case "background_color":
            try call.limited(to: 1)
            guard let color = call[0].flatMap(Self.color) else { throw call.failure(0, "a colour is expected") }
            job.effects.append(.background(color))
        case "rotate":
            let angle = try call.required(0, call.integer(0, in: -36_000...36_000), count: 1)
            guard angle.isMultiple(of: 90) else { throw call.failure(0, "a multiple of 90 is expected") }
            // thumbor turns against the clock.
            let turns = (4 - (angle / 90 % 4 + 4) % 4) % 4
            if turns != 0 { job.effects.append(.rotate(quarterTurns: turns)) }
        case "round_corner":
            try call.limited(to: 5)
            let radii =
                call[0]?.split(separator: "|", omittingEmptySubsequences: false).map { Numbers.integer($0) } ?? []
            guard (1...2).contains(radii.count), let x = radii[0], let y = radii[radii.count - 1],
                (0...ImageJob.Bounds.side).contains(x), (0...ImageJob.Bounds.side).contains(y)
            else { throw call.failure(0, "a radius, or two with | between, are expected") }
            var channels: [UInt8] = []
            for index in 1...3 { channels.append(UInt8(try call.required(index, call.integer(index, in: 0...255)))) }
            let color = ImageJob.Color(red: channels[0], green: channels[1], blue: channels[2])
            job.effects.append(.roundedCorners(x: x, y: y, color: color, transparent: try call.truth(4) ?? false))
        default: job.effects.append(.watermark(try watermark(call)))
        }
    }

    private static func fill(_ text: Substring) -> ImageJob.Fill? {
        switch text {
        case "auto": .mean
        case "blur": .blurred
        case "transparent": .transparent
        default: color(text).map { .color($0) }
        }
    }

    private static func color(_ text: Substring) -> ImageJob.Color? {
        NamedColors.color(text.lowercased()) ?? ImageJob.Color(hex: text)
    }

    private func watermark(_ call: Arguments) throws(ImageURLError) -> ImageJob.Watermark {
        try call.limited(to: 6)
        let picture = try call.required(0, call[0])
        let x = try call.required(1, call.axis(1))
        let y = try call.required(2, call.axis(2))
        let transparency = try call.required(3, call.integer(3, in: 0...100))
        let sides = try [call.ratio(4), call.ratio(5)]
        return ImageJob.Watermark(
            picture: .url(try address(String(picture))), fade: Double(transparency) / 100,
            position: .axes(x: x, y: y),
            size: sides == [nil, nil] ? .own : .percent(width: sides[0], height: sides[1]))
    }
}

extension Arguments {
    /// The value, which has no default.
    ///
    /// - Parameter count: arguments that the filter has at most.
    fileprivate func required<Value>(_ index: Int, _ value: Value?, count: Int? = nil) throws(ImageURLError) -> Value {
        if let count { try limited(to: count) }
        guard let value else { throw failure(index, "the argument is missing") }
        return value
    }

    /// A place on one axis: `center`, `repeat`, pixels, or percent with a `p`; from the far edge with a minus.
    fileprivate func axis(_ index: Int) throws(ImageURLError) -> ImageJob.Watermark.Axis? {
        guard let text = self[index] else { return nil }
        if text == "center" { return .center }
        if text == "repeat" { return .tiled }
        let isFromEnd = text.hasPrefix("-")
        let isPercent = text.hasSuffix("p")
        let digits = text.dropFirst(isFromEnd ? 1 : 0).dropLast(isPercent ? 1 : 0)
        guard !digits.isEmpty, ThumborPath.isDigits(digits), let count = Int(digits), count <= ImageJob.Bounds.side
        else {
            throw failure(index, "a number, one with p, center or repeat are expected")
        }
        switch (isFromEnd, isPercent) {
        case (false, false): return .fromStart(count)
        case (true, false): return .fromEnd(count)
        case (false, true): return .percentFromStart(count)
        case (true, true): return .percentFromEnd(count)
        }
    }

    /// Percent of a side. `nil` for `none` and 0.
    fileprivate func ratio(_ index: Int) throws(ImageURLError) -> Int? {
        guard self[index] != "none", let percent = try integer(index, in: 0...1000), percent > 0 else { return nil }
        return percent
    }
}
