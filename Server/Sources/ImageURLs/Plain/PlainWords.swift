/// The words of a plain URL, which are applied to a job.
struct PlainWords {
    private(set) var job: ImageJob
    private var kinds: Set<String> = []

    init(job: ImageJob) {
        self.job = job
    }

    mutating func apply(_ word: Substring) throws(ImageURLError) {
        let kind = try kind(of: word)
        guard kinds.insert(kind).inserted else { throw .invalid(kind, word, "it is stated twice") }
    }

    /// Applies the word. Returns the kind of which a URL has one.
    private mutating func kind(of word: Substring) throws(ImageURLError) -> String {
        if let kind = flag(word) { return kind }
        if let place = Self.places[word] {
            job.gravity = place
            return "gravity"
        }
        if let format = ImageJob.Format(name: word), format != .ico, format != .svg {
            job.output.format = format
            return "format"
        }
        if word == "best" {
            job.output.isSmallest = true
            return "format"
        }
        if let digit = word.firstIndex(where: \.isNumber), ["q", "dpr"].contains(word[..<digit]) {
            return try number(Arguments(word[..<digit], [word[digit...]]))
        }
        guard let hyphen = word.lastIndex(of: "-") else { throw .unknown(word) }
        let value = word[word.index(after: hyphen)...]
        let call = Arguments(word[..<hyphen], [value])
        if word.hasPrefix("focus-") { return try focus(word) }
        switch call.option {
        case "fit", "fill", "fill-down", "force", "auto", "crop": return try size(call)
        case "blur", "sharpen", "pixelate": return try effect(call)
        case "ssim", "max", "rotate", "trim", "pad", "bg", "expires", "v": return try setting(call)
        default: throw .unknown(word)
        }
    }

    private mutating func flag(_ word: Substring) -> String? {
        switch word {
        case "_": return "_"
        case "enlarge": job.resize.enlarge = true
        case "mirror": job.flip.horizontal = true
        case "flip": job.flip.vertical = true
        case "trim": job.trim = ImageJob.Trim()
        case "extend": job.extend = .center
        case "keep-metadata": (job.metadata.strip, job.metadata.stripProfile) = (false, false)
        case "original": job.raw = true
        case "download": job.attachment = true
        default: return nil
        }
        return String(word)
    }

    private mutating func number(_ call: Arguments) throws(ImageURLError) -> String {
        if call.option == "q" {
            job.output.quality = try call.integer(0, in: 1...100)
            return "quality"
        }
        job.resize.dpr = try call.factor(0, upTo: ImageJob.Bounds.dpr)
        return "dpr"
    }

    private mutating func focus(_ word: Substring) throws(ImageURLError) -> String {
        let call = Arguments("focus", word.split(separator: "-", omittingEmptySubsequences: false).suffix(2))
        guard word.split(separator: "-", omittingEmptySubsequences: false).count == 3,
            let x = try call.number(0, in: 0...1), let y = try call.number(1, in: 0...1)
        else { throw .invalid("focus", word, "two coordinates from 0 to 1 are expected") }
        job.gravity = .focus(x: x, y: y)
        return "gravity"
    }

    private mutating func size(_ call: Arguments) throws(ImageURLError) -> String {
        let sides = call.values[0].split(separator: "x", omittingEmptySubsequences: false)
        let numbers = Arguments(call.option, sides)
        guard sides.count == 2, sides.contains(where: { !$0.isEmpty }), sides.allSatisfy(ThumborPath.isDigits) else {
            throw call.failure(0, "a width and a height with an x between are expected")
        }
        let width = try numbers.integer(0, in: 1...ImageJob.Bounds.side)
        let height = try numbers.integer(1, in: 1...ImageJob.Bounds.side)
        if call.option == "crop" {
            job.crop = .area(
                width: width.map { .pixels(Double($0)) } ?? .fraction(1),
                height: height.map { .pixels(Double($0)) } ?? .fraction(1))
        } else {
            job.resize.mode = ImageJob.Resize.Mode(rawValue: call.option) ?? .fit
            job.resize.width = width.map { .pixels($0) } ?? .follows
            job.resize.height = height.map { .pixels($0) } ?? .follows
        }
        return call.option == "crop" ? "crop" : "size"
    }

    private mutating func effect(_ call: Arguments) throws(ImageURLError) -> String {
        switch call.option {
        case "blur", "sharpen":
            guard let sigma = try call.number(0, in: 0...ImageJob.Bounds.sigma), sigma > 0 else {
                throw call.failure(0, "a number is expected")
            }
            job.setEffect(call.option, call.option == "blur" ? .blur(sigma: sigma) : .sharpen(sigma: sigma))
        default:
            guard let side = try call.integer(0, in: 2...ImageJob.Bounds.side) else {
                throw call.failure(0, "a number is expected")
            }
            job.setEffect(call.option, .pixelate(side: side))
        }
        return call.option
    }

    private mutating func setting(_ call: Arguments) throws(ImageURLError) -> String {
        guard let text = call[0] else { throw call.failure(0, "a value is expected") }
        switch call.option {
        case "ssim":
            guard let score = try call.number(0, in: 0...100) else { throw call.failure(0, "a score is expected") }
            job.output.target = ImageJob.QualityTarget(score: score)
            // One of the two has a meaning.
            return "quality"
        case "max": job.output.maxBytes = try call.integer(0, in: 1...Int(Int32.max))
        case "rotate":
            guard let angle = try call.integer(0, in: 0...270), angle.isMultiple(of: 90) else {
                throw call.failure(0, "0, 90, 180 or 270 is expected")
            }
            job.quarterTurns = angle / 90
        case "trim": job.trim = ImageJob.Trim(tolerance: .channel(try call.number(0, in: 0...255) ?? 0))
        case "pad":
            let room = try call.integer(0, in: 0...ImageJob.Bounds.side) ?? 0
            job.padding = ImageJob.Padding(top: room, right: room, bottom: room, left: room)
        case "bg": job.background = try call.color(0)
        case "expires": job.expires = try call.integer(0, in: 1...Int.max).map { Int64($0) }
        default:
            guard text.utf8.allSatisfy(AddressText.isAlphanumeric) else {
                throw call.failure(0, "letters and digits are expected")
            }
            job.cachebuster = String(text)
        }
        return call.option
    }

    private static let places: [Substring: ImageJob.Gravity] = [
        "center": .center, "top": .compass(.top), "bottom": .compass(.bottom), "left": .compass(.left),
        "right": .compass(.right), "top-left": .compass(.topLeft), "top-right": .compass(.topRight),
        "bottom-left": .compass(.bottomLeft), "bottom-right": .compass(.bottomRight), "smart": .smart,
    ]
}
