import Halcyon

// The code of docs/Migrating.md that stands for processors and what is done at the delivery; only compiled.

private func processors(_ tint: Color) -> [any ImageProcessor] {
    [
        .resize(to: PixelSize(320, 240)),
        .resize(to: PixelSize(320, 240), mode: .fill),
        .resize(width: 320),
        .resize(height: 240),
        .resize(to: PixelSize(320, 240), mode: .stretch, upscale: true),
        .crop(to: PixelSize(320, 240), anchorX: 0.5, anchorY: 0),
        .smartCrop(to: PixelSize(320, 240)),
        .crop(PixelRect(x: 0, y: 0, width: 64, height: 64)),
        .roundCorners(radius: 20),
        .roundCorners(radius: 20, corners: [.topLeft, .topRight]),
        .roundCorners(.widthFraction(0.5), background: .white, targetSize: PixelSize(64, 64)),
        .roundCorners(.pixels(20), border: ImageBorder(width: 2, color: .white)),
        .circle(),
        .flip(.horizontal),
        .rotate(degrees: 90),
        .border(width: 4, color: .black),
        .blur(radius: 5),
        .overlay(tint, fraction: 0.5),
        .tint(tint),
        .tint(tint, mode: .sourceIn),
        .colorControls(brightness: 0.1, contrast: 1.1, saturation: 0.8, exposure: 0.5),
        .blackWhite,
        .blend(.multiply, alpha: 0.5, background: .white),
        .general("org.example.copy") { image, _ in image },
    ]
}

private func modifiers() -> [ImageModifier] {
    [
        .scale(2),
        .mirroredForRightToLeft,
    ]
}
