extension ImageJob {
    /// A text of all that decides on the bytes of the result, from whichever grammar: equal for jobs that ask for the same,
    /// different for any two that do not. The key of a cache, printable ASCII without spaces.
    ///
    /// `expires`, `filename` and `attachment` are not part of it, for they change the answer's headers alone. Cost: one pass
    /// over the members. Taken of a job without ``applying(dpr:width:)``, it stands for a client without hints.
    public var canonicalText: String {
        var text = CanonicalText()
        if raw {
            text.add("raw")
        } else {
            geometry(to: &text)
            for effect in effects { effect.add(to: &text) }
            canvas(to: &text)
            encoding(to: &text)
        }
        if let cachebuster { text.add("cachebuster", AddressText.component(cachebuster)) }
        text.add("max-bytes", limits.maxBytes)
        if !raw {
            text.add("max-pixels", limits.maxPixels)
            text.add("max-frames", limits.maxFrames)
            text.add("max-frame-pixels", limits.maxFramePixels)
            text.add("max-side", limits.maxResultSide)
        }
        text.add("source", AddressText.component(source))
        return text.fields.joined(separator: "/")
    }

    private func geometry(to text: inout CanonicalText) {
        if let trim { text.add("trim", trim.text) }
        if let crop { text.add("crop", crop.text) }
        if !autoRotate { text.add("no-orientation") }
        if quarterTurns != 0 { text.add("turns", "\(quarterTurns)") }
        if flip != Flip() { text.add("mirror", flip.text) }
        if resize.rules != .imgproxy { text.add("rules", resize.rules.rawValue) }
        if resize.mode != .fit { text.add("mode", resize.mode.rawValue) }
        if resize.width.text != "-" || resize.height.text != "-" {
            text.add("size", resize.width.text, resize.height.text)
        }
        if resize.minWidth != 0 || resize.minHeight != 0 {
            text.add("min", "\(resize.minWidth)", "\(resize.minHeight)")
        }
        if resize.zoomX != 1 || resize.zoomY != 1 { text.add("zoom", "\(resize.zoomX)", "\(resize.zoomY)") }
        if let dpr = resize.dpr, dpr != 1 { text.add("dpr", "\(dpr)") }
        if resize.enlarge { text.add("enlarge") }
        if resize.adaptive { text.add("adaptive") }
        if resize.staysWithinSource { text.add("within") }
        if gravity != .center { text.add("gravity", gravity.text) }
    }

    private func canvas(to text: inout CanonicalText) {
        if let extend { text.add("extend", extend.text) }
        if let extendAspectRatio { text.add("extend-ratio", extendAspectRatio.text) }
        if padding != Padding() {
            text.add("padding", "\(padding.top)", "\(padding.right)", "\(padding.bottom)", "\(padding.left)")
        }
        if let background { text.add("background", background.text) }
        if let watermark { text.add("on-top", watermark.text) }
    }

    private func encoding(to text: inout CanonicalText) {
        if !metadata.strip { text.add("keep-metadata") }
        if metadata.strip, !metadata.keepCopyright { text.add("no-copyright") }
        if !metadata.stripProfile { text.add("keep-profile") }
        if enforceThumbnail { text.add("thumbnail") }
        if let format = output.format {
            text.add("format", format.rawValue)
        } else if output.isSmallest {
            text.add("smallest")
        }
        if let target = output.target {
            text.add(
                "score", "\(target.score)", "\(target.minQuality)", "\(target.maxQuality)", "\(target.allowedError)")
        } else if let quality = output.quality {
            text.add("quality", "\(quality)")
        } else {
            for (format, quality) in output.formatQuality.sorted(by: { $0.key < $1.key }) {
                text.add("quality", format.rawValue, "\(quality)")
            }
        }
        text.add("bytes", output.maxBytes)
        if let opaqueAsJPEG = output.opaqueAsJPEG { text.add("opaque-as-jpeg", "\(opaqueAsJPEG)") }
        if !skipProcessing.isEmpty { text.add("skip", skipProcessing.sorted().map(\.rawValue).joined(separator: ",")) }
    }
}

/// Fields in the order that they are added in, each a name with its values.
private struct CanonicalText {
    var fields: [String] = []

    mutating func add(_ name: String, _ values: String...) {
        fields.append(([name] + values).joined(separator: ":"))
    }

    mutating func add(_ name: String, _ value: Int?) {
        if let value { add(name, "\(value)") }
    }
}

extension ImageJob.Effect {
    fileprivate func add(to text: inout CanonicalText) {
        switch self {
        case .flip(let flip): text.add(kind, flip.text)
        case .rotate(let turns): text.add(kind, "\(turns)")
        case .blur(let sigma, let radius): text.add(kind, "\(sigma)", radius.map { "\($0)" } ?? "-")
        case .sharpen(let sigma): text.add(kind, "\(sigma)")
        case .wavelet(let amount, let radius, let luminanceOnly):
            text.add(kind, "\(amount)", "\(radius)", "\(luminanceOnly)")
        case .pixelate(let side): text.add(kind, "\(side)")
        case .brightness(let percent), .contrast(let percent): text.add(kind, "\(percent)")
        case .saturation(let factor), .scale(let factor): text.add(kind, "\(factor)")
        case .channels(let red, let green, let blue): text.add(kind, "\(red)", "\(green)", "\(blue)")
        case .grayscale: text.add(kind)
        case .roundedCorners(let x, let y, let color, let transparent):
            text.add(kind, "\(x)", "\(y)", color.text, "\(transparent)")
        case .watermark(let watermark): text.add(kind, watermark.text)
        case .fill(let fill, let behind): text.add(kind, fill.text, "\(behind)")
        case .background(let color): text.add(kind, color.text)
        }
    }
}

extension ImageJob.Length {
    fileprivate var text: String {
        switch self {
        case .pixels(let count): "\(count)px"
        case .fraction(let part): "\(part)"
        }
    }
}

extension ImageJob.Resize.Side {
    fileprivate var text: String {
        switch self {
        case .unset, .follows, .pixels(0): "-"
        case .pixels(let count): "\(count)"
        case .original: "original"
        }
    }
}

extension ImageJob.Box {
    fileprivate var text: String { "\(left),\(top),\(right),\(bottom)" }
}

extension ImageJob.Flip {
    fileprivate var text: String { (horizontal ? "h" : "") + (vertical ? "v" : "") }
}

extension ImageJob.Color {
    fileprivate var text: String { "\(red),\(green),\(blue)" }
}

extension ImageJob.Fill {
    fileprivate var text: String {
        switch self {
        case .color(let color): color.text
        case .transparent: "transparent"
        case .mean: "mean"
        case .blurred: "blurred"
        }
    }
}

extension ImageJob.Gravity {
    fileprivate var text: String {
        switch self {
        case .compass(let place, let x, let y): "\(place.rawValue):\(x.text):\(y.text)"
        case .smart: "smart"
        case .focus(let x, let y): "focus:\(x):\(y)"
        case .regions(let boxes): "regions:" + boxes.map(\.text).joined(separator: ":")
        }
    }
}

extension ImageJob.Crop {
    fileprivate var text: String {
        switch self {
        case .area(let width, let height, let gravity): "\(width.text):\(height.text):\(gravity?.text ?? "-")"
        case .box(let box): "box:\(box.text)"
        }
    }
}

extension ImageJob.Trim {
    fileprivate var text: String {
        let tolerance =
            switch tolerance {
            case .channel(let difference): "\(difference)"
            case .distance(let distance): "rgba-\(distance)"
            }
        let border =
            switch border {
            case .topLeft: "first"
            case .bottomRight: "last"
            case .color(let color): color.text
            }
        return "\(tolerance):\(border):\(equalHorizontally):\(equalVertically)"
    }
}

extension ImageJob.Watermark {
    fileprivate var text: String {
        let address = if case .url(let address) = picture { AddressText.component(address) } else { "-" }
        return "\(address):\(opacity):\(fade):\(position.text):\(size.text)"
    }
}

extension ImageJob.Watermark.Position {
    fileprivate var text: String {
        switch self {
        case .compass(let place, let x, let y): "\(place.rawValue):\(x.text):\(y.text)"
        case .tiled(let x, let y): "tiled:\(x.text):\(y.text)"
        case .axes(let x, let y): "axes:\(x.text):\(y.text)"
        }
    }
}

extension ImageJob.Watermark.Axis {
    fileprivate var text: String {
        switch self {
        case .fromStart(let pixels): "\(pixels)"
        case .fromEnd(let pixels): "end-\(pixels)"
        case .percentFromStart(let percent): "\(percent)p"
        case .percentFromEnd(let percent): "end-\(percent)p"
        case .center: "center"
        case .tiled: "tiled"
        }
    }
}

extension ImageJob.Watermark.Size {
    fileprivate var text: String {
        switch self {
        case .own: "own"
        case .scale(let factor): "\(factor)"
        case .percent(let width, let height): "\(width.map { "\($0)" } ?? "-"),\(height.map { "\($0)" } ?? "-")"
        }
    }
}
