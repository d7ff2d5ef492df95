import Halcyon

/// Formats the facts about an image and its load.
enum Facts {
    static func text(of response: ImageResponse) -> String {
        let (image, metrics) = (response.image, response.metrics)
        var lines = [
            "\(image.info.format.name.uppercased()), \(image.info.size.width) x \(image.info.size.height) pixels",
            "on the view \(image.width) x \(image.height)",
            "from \(response.origin.rawValue) in \(milliseconds(metrics.total))",
        ]
        if let animation = image.animation { lines.append("\(animation.frameCount) frames") }
        if let bytes = metrics.bytes { lines.append(self.bytes(bytes)) }
        if let decode = metrics.decode { lines.append("decoded in \(milliseconds(decode))") }
        if let process = metrics.process { lines.append("processed in \(milliseconds(process))") }
        return lines.joined(separator: "\n")
    }

    static func bytes(_ count: Int) -> String {
        count < 1 << 20 ? "\(oneDigit(Double(count) / 1024)) KiB" : "\(oneDigit(Double(count) / 1_048_576)) MiB"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\(oneDigit(duration / .milliseconds(1))) ms"
    }

    private static func oneDigit(_ value: Double) -> String { String((value * 10).rounded() / 10) }
}
