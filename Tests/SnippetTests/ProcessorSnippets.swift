// The examples of the processors' pages, compiled. SnippetTests looks for each of their Swift blocks in this file.

import Foundation
import Halcyon

func resize(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.resize(to: PixelSize(80, 80), mode: .fill)])
    return request
}

func crop(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.crop(PixelRect(x: 20, y: 30, width: 100, height: 80))])
    return request
}

func flip(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.flip(.horizontal)])
    return request
}

func rotate(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.rotate(degrees: 20)])
    return request
}

func pad(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.pad(14, background: Color(red: 1, green: 0.8, blue: 0.4))])
    return request
}

func roundedCorners(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.roundCorners(radius: 30)])
    return request
}

func circled(url: URL) -> ImageRequest {
    let request = ImageRequest(
        url, processors: [.circle(border: ImageBorder(width: 6, color: Color(red: 1, green: 0.8, blue: 0.4)))])
    return request
}

func border(url: URL) -> ImageRequest {
    let request = ImageRequest(
        url, processors: [.border(width: 6, color: Color(red: 0.8, green: 0.2, blue: 0.4), radius: .pixels(20))])
    return request
}

func blur(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.blur(radius: 4)])
    return request
}

func sharpen(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.sharpen(amount: 2, radius: 1.5)])
    return request
}

func pixelate(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.pixelate(side: 8)])
    return request
}

func recolored(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.colorControls(contrast: 1.2, saturation: 1.8)])
    return request
}

func blackwhite(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.blackWhite])
    return request
}

func sepia(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.sepia()])
    return request
}

func invert(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.invert])
    return request
}

func opacity(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.opacity(0.4)])
    return request
}

func overlay(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.overlay(Color(red: 0.2, green: 0.4, blue: 0.8), fraction: 0.4)])
    return request
}

func tint(url: URL) -> ImageRequest {
    let request = ImageRequest(url, processors: [.tint(Color(red: 0.8, green: 0.2, blue: 0.4), mode: .color)])
    return request
}

func blend(url: URL) -> ImageRequest {
    let request = ImageRequest(
        url, processors: [.blend(.multiply, alpha: 0.9, background: Color(red: 1, green: 0.8, blue: 0.4))])
    return request
}

func multiplied(url: URL) -> ImageRequest {
    let request = ImageRequest(
        url, processors: [.colorMatrix(ColorMatrix(red: .init(0, 0, 1), green: .init(0, 1, 0), blue: .init(1, 0, 0)))])
    return request
}

func watermark(url: URL, logo: Image) -> ImageRequest {
    let request = ImageRequest(url, processors: [.watermark(logo, anchorX: 0, anchorY: 0, margin: 8, opacity: 0.8)])
    return request
}
