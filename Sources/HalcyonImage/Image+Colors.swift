/// The colours of the pixels: sRGB, unless `colorProfile` is set. An animation uses its first frame.
extension Image {
    /// Returns the colour of a pixel, in pixels from the top left; nil outside the image.
    public func color(x: Int, y: Int) -> Color? {
        bitmap.pixel(x: x, y: y).map {
            Color(premultipliedBlue: $0.blue, green: $0.green, red: $0.red, alpha: $0.alpha)
        }
    }

    /// Returns the colours of the part of `rect` that lies inside the image, row by row from its top left; an empty array
    /// if no part does.
    ///
    /// Cost: 32 bytes and a few divisions a pixel.
    public func colors(in rect: PixelRect) -> [Color] {
        guard let rect = rect.clamped(to: size) else { return [] }
        return withPixels { bytes in
            var colors: [Color] = []
            colors.reserveCapacity(rect.size.width * rect.size.height)
            visit(rect, step: 1) { offset in
                colors.append(
                    Color(
                        premultipliedBlue: bytes[offset], green: bytes[offset + 1], red: bytes[offset + 2],
                        alpha: bytes[offset + 3]))
            }
            return colors
        }
    }

    /// Returns the average colour of the part of `rect` that lies inside the image; nil if no part does. The whole image by
    /// default.
    ///
    /// Each channel is the sum of its premultiplied bytes divided by the sum of the alphas, so that a pixel counts as much
    /// as it is opaque; alpha is the average of the alphas. `.clear` if every pixel is transparent. The average is taken
    /// over sRGB values, as in a picture editor, not over linear light. Cost: linear in the pixels.
    public func averageColor(in rect: PixelRect? = nil) -> Color? {
        guard let rect = (rect ?? wholeRect).clamped(to: size) else { return nil }
        var sum = ColorSum()
        withPixels { bytes in visit(rect, step: 1) { sum.add(bytes, at: $0) } }
        return sum.color
    }

    /// Returns the most frequent colour of the part of `rect` that lies inside the image; nil if no part does, or if every
    /// pixel is transparent. The whole image by default.
    ///
    /// This is the first of `dominantColors(count:in:)`.
    public func dominantColor(in rect: PixelRect? = nil) -> Color? {
        dominantColors(count: 1, in: rect).first
    }

    /// Returns the most frequent colours of the part of `rect` that lies inside the image, the most frequent first; an
    /// empty array if no part does, or if every pixel is transparent. The whole image by default.
    ///
    /// The pixels are counted, weighted by alpha, in a histogram of 16 steps a channel. The largest bin and the bins whose
    /// average is at most 32 of 255 away from its own, as a straight line in the colour cube, form one colour, the average
    /// of their pixels; then the same is done with the remaining bins. Equal images have equal colours, in the same order.
    /// Cost: bounded; of more than 65,536 pixels, a grid of at most 65,536 is sampled.
    ///
    /// - Parameter count: the maximum number of colours, 5 by default. Not positive returns an empty array.
    public func dominantColors(count: Int = 5, in rect: PixelRect? = nil) -> [Color] {
        guard count > 0, let rect = (rect ?? wholeRect).clamped(to: size) else { return [] }
        var histogram = ColorHistogram()
        withPixels { bytes in visit(rect, step: Self.step(rect.size)) { histogram.add(bytes, at: $0) } }
        return histogram.colors(count: count)
    }

    private var wholeRect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }

    /// Calls `body` with the byte offset of every `step`th pixel across and down of a part that lies inside the image.
    private func visit(_ rect: PixelRect, step: Int, _ body: (Int) -> Void) {
        // Starts in the middle of the first step, so that no edge of the picture counts more than the opposite one.
        func first(_ length: Int) -> Int { (min(step, length) - 1) / 2 }
        for y in stride(from: rect.y + first(rect.size.height), to: rect.y + rect.size.height, by: step) {
            for x in stride(from: rect.x + first(rect.size.width), to: rect.x + rect.size.width, by: step) {
                body((y * width + x) * 4)
            }
        }
    }

    /// Returns the smallest step that visits no more pixels than a histogram needs.
    private static func step(_ size: PixelSize) -> Int {
        func count(_ step: Int) -> Int {
            ((size.width + step - 1) / step) * ((size.height + step - 1) / step)
        }
        let limit = 65_536
        var step = max(1, Int((Double(size.width) * Double(size.height) / Double(limit)).squareRoot()))
        while count(step) > limit { step += 1 }
        return step
    }
}
