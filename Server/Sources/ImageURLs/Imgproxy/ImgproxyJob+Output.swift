/// Options on colours, effects, encoding and the answer.
extension ImgproxyJob {
    mutating func applyDrawing(_ option: ImgproxyOption, _ arguments: Arguments) throws(ImageURLError) {
        switch option {
        case .background: try applyBackground(arguments)
        case .watermark: try applyWatermark(arguments)
        case .blur:
            try arguments.limited(to: 1)
            guard let sigma = try arguments.number(0, in: 0...ImageJob.Bounds.sigma) else { return }
            job.setEffect("blur", sigma == 0 ? nil : .blur(sigma: sigma))
        case .sharpen:
            try arguments.limited(to: 1)
            guard let sigma = try arguments.number(0, in: 0...ImageJob.Bounds.sigma) else { return }
            job.setEffect("sharpen", sigma == 0 ? nil : .sharpen(sigma: sigma))
        default:
            try arguments.limited(to: 1)
            guard let side = try arguments.integer(0, in: 0...ImageJob.Bounds.side) else { return }
            job.setEffect("pixelate", side <= 1 ? nil : .pixelate(side: side))
        }
    }

    private mutating func applyBackground(_ arguments: Arguments) throws(ImageURLError) {
        guard arguments.values.count != 1 else {
            job.background = try arguments.color(0)
            return
        }
        try arguments.limited(to: 3)
        guard let red = try arguments.integer(0, in: 0...255), let green = try arguments.integer(1, in: 0...255),
            let blue = try arguments.integer(2, in: 0...255)
        else { throw arguments.failure(0, "a hexadecimal colour or three numbers are expected") }
        job.background = ImageJob.Color(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
    }

    private mutating func applyWatermark(_ arguments: Arguments) throws(ImageURLError) {
        if arguments[1] == "ch" { throw .unsupported("\(arguments.option):ch") }
        try arguments.limited(to: 5)
        var mark = job.watermark ?? ImageJob.Watermark()
        if let opacity = try arguments.number(0, in: 0...1) { mark.opacity = opacity }
        var (name, x, y) = ("ce" as Substring, ImageJob.Length.zero, ImageJob.Length.zero)
        switch mark.position {
        case .compass(let place, let formerX, let formerY):
            (x, y) = (formerX, formerY)
            name = Arguments.places.first { $0.value == place }?.key ?? name
        case .tiled(let formerX, let formerY): (name, x, y) = ("re", formerX, formerY)
        case .axes: break
        }
        name = arguments[1] ?? name
        x = try arguments.offset(2) ?? x
        y = try arguments.offset(3) ?? y
        if name == "re" {
            mark.position = .tiled(x: x, y: y)
        } else {
            guard let place = Arguments.places[name] else { throw arguments.failure(1, "a position is expected") }
            mark.position = .compass(place, x: x, y: y)
        }
        if let scale = try arguments.number(4, in: 0...100) { mark.size = scale == 0 ? .own : .scale(scale) }
        job.watermark = mark.opacity == 0 ? nil : mark
    }

    mutating func applyOutput(_ option: ImgproxyOption, _ arguments: Arguments) throws(ImageURLError) {
        if option == .formatQuality { return try applyFormatQuality(arguments) }
        if option == .autoquality { return try applyAutoquality(arguments) }
        try arguments.limited(to: 1)
        switch option {
        case .stripMetadata: job.metadata.strip = try arguments.truth(0) ?? job.metadata.strip
        case .keepCopyright: job.metadata.keepCopyright = try arguments.truth(0) ?? job.metadata.keepCopyright
        case .stripColorProfile: job.metadata.stripProfile = try arguments.truth(0) ?? job.metadata.stripProfile
        case .enforceThumbnail: job.enforceThumbnail = try arguments.truth(0) ?? job.enforceThumbnail
        case .quality:
            if let quality = try arguments.integer(0, in: 0...100) { job.output.quality = quality == 0 ? nil : quality }
        case .maxBytes:
            if let count = try arguments.integer(0, in: 0...Int(Int32.max)) {
                job.output.maxBytes = count == 0 ? nil : count
            }
        default: try applyFormat(arguments)
        }
    }

    private mutating func applyFormat(_ arguments: Arguments) throws(ImageURLError) {
        if arguments[0] == "best" {
            (job.output.format, job.output.isSmallest) = (nil, true)
        } else if let format = try arguments.format(0) {
            (job.output.format, job.output.isSmallest) = (format, false)
        }
    }

    private mutating func applyFormatQuality(_ arguments: Arguments) throws(ImageURLError) {
        guard arguments.values.contains(where: { !$0.isEmpty }) else { return }
        for index in stride(from: 0, to: arguments.values.count, by: 2) {
            guard let format = try arguments.format(index) else {
                throw arguments.failure(index, "a format is expected")
            }
            guard let quality = try arguments.integer(index + 1, in: 0...100) else {
                throw arguments.failure(index, "its quality is missing")
            }
            job.output.formatQuality[format] = quality == 0 ? nil : quality
        }
    }

    /// imgproxy's own methods measure something else, and would find other qualities here.
    private mutating func applyAutoquality(_ arguments: Arguments) throws(ImageURLError) {
        guard let method = arguments[0] else { return }
        switch method {
        case "none":
            job.output.target = nil
            return
        case "ssim": break
        case "size", "dssim", "ml": throw .unsupported("\(arguments.option):\(method)")
        default: throw arguments.failure(0, "none or ssim is expected")
        }
        try arguments.limited(to: 5)
        guard let score = try arguments.number(1, in: 0...100) else {
            throw arguments.failure(1, "a score is expected")
        }
        var target = ImageJob.QualityTarget(score: score)
        target.minQuality = try arguments.integer(2, in: 0...100) ?? target.minQuality
        target.maxQuality = try arguments.integer(3, in: target.minQuality...100) ?? target.maxQuality
        target.allowedError = try arguments.number(4, in: 0...100) ?? target.allowedError
        job.output.target = target
    }

    mutating func applyHandling(_ option: ImgproxyOption, _ arguments: Arguments) throws(ImageURLError) {
        switch option {
        case .skipProcessing:
            for index in arguments.values.indices {
                if let format = try arguments.format(index) { job.skipProcessing.insert(format) }
            }
        case .filename: try applyFilename(arguments)
        default:
            try arguments.limited(to: 1)
            switch option {
            case .raw: job.raw = try arguments.truth(0) ?? job.raw
            case .returnAttachment: job.attachment = try arguments.truth(0) ?? job.attachment
            case .cachebuster: job.cachebuster = arguments[0].map(String.init) ?? job.cachebuster
            default:
                if let time = try arguments.integer(0, in: Int.min...Int.max) { job.expires = Int64(time) }
            }
        }
    }

    private mutating func applyFilename(_ arguments: Arguments) throws(ImageURLError) {
        try arguments.limited(to: 2)
        guard let text = arguments[0] else { return }
        let isEncoded = try arguments.truth(1) ?? false
        guard let name = isEncoded ? AddressText.base64Decoded(text) : AddressText.percentDecoded(text) else {
            throw arguments.failure(0, isEncoded ? "URL-safe base64 is expected" : "its percent-encoding is not valid")
        }
        // The name ends up in a header and on disks.
        guard
            name.unicodeScalars.allSatisfy({
                $0.value >= 0x20 && $0.value != 0x7F && !"/\\".unicodeScalars.contains($0)
            })
        else { throw arguments.failure(0, "slashes and control characters are not possible") }
        job.filename = name
    }

    mutating func applyLimit(_ option: ImgproxyOption, _ arguments: Arguments) throws(ImageURLError) {
        try arguments.limited(to: 1)
        switch option {
        case .maxSourceResolution:
            if let count = try arguments.megapixels(0) { job.limits.maxPixels = count }
        case .maxAnimationFrameResolution:
            if let count = try arguments.megapixels(0) { job.limits.maxFramePixels = count }
        case .maxSourceFileSize:
            if let count = try arguments.integer(0, in: 0...Int(Int32.max)) { job.limits.maxBytes = count }
        case .maxAnimationFrames:
            if let count = try arguments.integer(0, in: 1...100_000) { job.limits.maxFrames = count }
        default:
            if let side = try arguments.integer(0, in: 0...ImageJob.Bounds.side) { job.limits.maxResultSide = side }
        }
    }
}

extension Arguments {
    /// A number of megapixels, in pixels.
    fileprivate func megapixels(_ index: Int) throws(ImageURLError) -> Int? {
        try number(index, in: 0...10_000).map { Int($0 * 1_000_000) }
    }
}
