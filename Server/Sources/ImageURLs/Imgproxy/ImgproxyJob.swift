/// A job that options are applied to, one after the other.
struct ImgproxyJob {
    var job: ImageJob
    private let configuration: ImgproxyURL.Configuration
    private var count = 0
    /// Whether the options are those of a preset, which whoever runs the server has written.
    private var isInPreset = false

    init(configuration: ImgproxyURL.Configuration) {
        (job, self.configuration) = (configuration.defaults, configuration)
    }

    mutating func applyPreset(_ name: some StringProtocol) throws(ImageURLError) {
        guard let options = configuration.presets[name] else {
            throw .invalid("preset", name, "there is no such preset")
        }
        let outer = isInPreset
        isInPreset = true
        defer { isInPreset = outer }
        for option in options { try apply(option) }
    }

    mutating func apply(_ arguments: Arguments) throws(ImageURLError) {
        count += 1
        guard count <= ImageJob.Bounds.expandedOptions, arguments.values.count <= ImageJob.Bounds.options else {
            throw .tooManyOptions
        }
        guard let option = ImgproxyOption.named[arguments.option] else { throw .unknown(arguments.option) }
        switch option {
        case .resize, .size, .resizingType, .width, .height, .minWidth, .minHeight, .zoom, .dpr, .enlarge:
            try applySize(option, arguments)
        case .extend, .extendAspectRatio, .gravity, .crop, .trim, .padding, .autoRotate, .rotate, .flip:
            try applyGeometry(option, arguments)
        case .background, .blur, .sharpen, .pixelate, .watermark:
            try applyDrawing(option, arguments)
        case .stripMetadata, .keepCopyright, .stripColorProfile, .enforceThumbnail, .quality, .formatQuality,
            .autoquality, .maxBytes,
            .format:
            try applyOutput(option, arguments)
        case .skipProcessing, .raw, .cachebuster, .expires, .filename, .returnAttachment:
            try applyHandling(option, arguments)
        case .preset:
            for name in arguments.values where !name.isEmpty { try applyPreset(name) }
        case .maxSourceResolution, .maxSourceFileSize, .maxAnimationFrames, .maxAnimationFrameResolution,
            .maxResultDimension:
            guard configuration.allowsLimits || isInPreset else { throw .forbidden(arguments.option) }
            try applyLimit(option, arguments)
        }
    }

    private mutating func applySize(_ option: ImgproxyOption, _ arguments: Arguments) throws(ImageURLError) {
        let sides = 0...ImageJob.Bounds.side
        switch option {
        case .resize:
            try arguments.limited(to: 8)
            try applyMode(arguments)
            try applySize(.size, arguments.dropping(1))
        case .size:
            try arguments.limited(to: 7)
            if let side = try arguments.side(0) { job.resize.width = side }
            if let side = try arguments.side(1) { job.resize.height = side }
            if let enlarge = try arguments.truth(2) { job.resize.enlarge = enlarge }
            if arguments.values.count > 3 { try applyGeometry(.extend, arguments.dropping(3)) }
        case .zoom:
            try arguments.limited(to: 2)
            let x = try arguments.factor(0, upTo: ImageJob.Bounds.zoom)
            let y = try arguments.factor(1, upTo: ImageJob.Bounds.zoom)
            if let x { job.resize.zoomX = x }
            if let y = y ?? (arguments.values.count < 2 ? x : nil) { job.resize.zoomY = y }
        default:
            try arguments.limited(to: 1)
            switch option {
            case .resizingType: try applyMode(arguments)
            case .width: if let side = try arguments.side(0) { job.resize.width = side }
            case .height: if let side = try arguments.side(0) { job.resize.height = side }
            case .minWidth: if let side = try arguments.integer(0, in: sides) { job.resize.minWidth = side }
            case .minHeight: if let side = try arguments.integer(0, in: sides) { job.resize.minHeight = side }
            case .dpr: if let ratio = try arguments.factor(0, upTo: ImageJob.Bounds.dpr) { job.resize.dpr = ratio }
            default: if let enlarge = try arguments.truth(0) { job.resize.enlarge = enlarge }
            }
        }
    }

    private mutating func applyMode(_ arguments: Arguments) throws(ImageURLError) {
        guard let text = arguments[0] else { return }
        guard let mode = ImageJob.Resize.Mode(rawValue: String(text)), mode != .cover else {
            throw arguments.failure(0, "fit, fill, fill-down, force or auto is expected")
        }
        job.resize.mode = mode
    }

    private mutating func applyGeometry(_ option: ImgproxyOption, _ arguments: Arguments) throws(ImageURLError) {
        switch option {
        case .extend: job.extend = try arguments.canvas(over: job.extend)
        case .extendAspectRatio: job.extendAspectRatio = try arguments.canvas(over: job.extendAspectRatio)
        case .gravity:
            if let gravity = try arguments.gravity(over: job.gravity) { job.gravity = gravity }
        case .crop: try applyCrop(arguments)
        case .trim: try applyTrim(arguments)
        case .padding: try applyPadding(arguments)
        case .autoRotate:
            try arguments.limited(to: 1)
            if let autoRotate = try arguments.truth(0) { job.autoRotate = autoRotate }
        case .rotate:
            try arguments.limited(to: 1)
            guard let angle = try arguments.integer(0, in: -36_000...36_000) else { return }
            guard angle.isMultiple(of: 90) else { throw arguments.failure(0, "a multiple of 90 is expected") }
            job.quarterTurns = (angle / 90 % 4 + 4) % 4
        default:
            try arguments.limited(to: 2)
            if let horizontal = try arguments.truth(0) { job.flip.horizontal = horizontal }
            if let vertical = try arguments.truth(1) { job.flip.vertical = vertical }
        }
    }

    private mutating func applyCrop(_ arguments: Arguments) throws(ImageURLError) {
        var (width, height, gravity) = (
            ImageJob.Length.fraction(1), ImageJob.Length.fraction(1), ImageJob.Gravity?.none
        )
        if case .area(let formerWidth, let formerHeight, let formerGravity)? = job.crop {
            (width, height, gravity) = (formerWidth, formerHeight, formerGravity)
        }
        let sides = 0...Double(ImageJob.Bounds.side)
        if let side = try arguments.number(0, in: sides) { width = side == 0 ? .fraction(1) : .init(side) }
        if let side = try arguments.number(1, in: sides) { height = side == 0 ? .fraction(1) : .init(side) }
        gravity = try arguments.dropping(2).gravity(over: gravity) ?? gravity
        let isAll = width == .fraction(1) && height == .fraction(1)
        job.crop = isAll ? nil : .area(width: width, height: height, gravity: gravity)
    }

    private mutating func applyTrim(_ arguments: Arguments) throws(ImageURLError) {
        try arguments.limited(to: 4)
        // Without a threshold imgproxy does not trim at all, and forgets the colour of an earlier option.
        let threshold = try arguments.number(0, in: 0...255)
        let color = try arguments.color(1)
        let horizontally = try arguments.truth(2) ?? job.trim?.equalHorizontally ?? false
        let vertically = try arguments.truth(3) ?? job.trim?.equalVertically ?? false
        job.trim = threshold.map {
            ImageJob.Trim(
                tolerance: .channel($0), border: color.map { .color($0) } ?? .topLeft, equalHorizontally: horizontally,
                equalVertically: vertically)
        }
    }

    private mutating func applyPadding(_ arguments: Arguments) throws(ImageURLError) {
        try arguments.limited(to: 4)
        let sides = 0...ImageJob.Bounds.side
        if let top = try arguments.integer(0, in: sides) { job.padding.top = top }
        job.padding.right = try arguments.integer(1, in: sides) ?? job.padding.top
        job.padding.bottom = try arguments.integer(2, in: sides) ?? job.padding.top
        job.padding.left = try arguments.integer(3, in: sides) ?? job.padding.right
    }
}

extension Arguments {
    fileprivate func side(_ index: Int) throws(ImageURLError) -> ImageJob.Resize.Side? {
        guard let count = try integer(index, in: 0...ImageJob.Bounds.side) else { return nil }
        return count == 0 ? .follows : .pixels(count)
    }

    /// The canvas that `extend` asks for, with the place of an earlier one if it states none.
    fileprivate func canvas(over former: ImageJob.Gravity?) throws(ImageURLError) -> ImageJob.Gravity? {
        try limited(to: 4)
        let isOn = try truth(0) ?? (former != nil)
        let place = try dropping(1).gravity(over: former)
        if place == .smart { throw failure(1, "a canvas has no smart gravity") }
        return isOn ? place ?? former ?? .center : nil
    }

    /// The gravity that the arguments ask for. `nil` without any.
    ///
    /// - Parameter former: an earlier one, whose offsets stay if none are stated.
    func gravity(over former: ImageJob.Gravity?) throws(ImageURLError) -> ImageJob.Gravity? {
        guard let name = self[0] else {
            guard values.allSatisfy({ $0.isEmpty }) else { throw failure(0, "a gravity is expected") }
            return nil
        }
        switch name {
        case "sm":
            try limited(to: 1)
            return .smart
        case "fp":
            try limited(to: 3)
            guard let x = try number(1, in: 0...1), let y = try number(2, in: 0...1) else {
                throw failure(0, "two coordinates from 0 to 1 are expected")
            }
            return .focus(x: x, y: y)
        case "obj", "objw": throw .unsupported("\(option):\(name)")
        default:
            try limited(to: 3)
            guard let place = Self.places[name] else { throw failure(0, "a gravity is expected") }
            var (x, y) = (ImageJob.Length.zero, ImageJob.Length.zero)
            if case .compass(_, let formerX, let formerY)? = former { (x, y) = (formerX, formerY) }
            return .compass(place, x: try offset(1) ?? x, y: try offset(2) ?? y)
        }
    }

    func offset(_ index: Int) throws(ImageURLError) -> ImageJob.Length? {
        let bound = Double(ImageJob.Bounds.side)
        return try number(index, in: -bound...bound).map { ImageJob.Length($0) }
    }

    static let places: [Substring: ImageJob.Compass] = [
        "ce": .center, "no": .top, "so": .bottom, "ea": .right, "we": .left, "noea": .topRight, "nowe": .topLeft,
        "soea": .bottomRight, "sowe": .bottomLeft,
    ]
}
