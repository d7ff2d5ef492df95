// swift-tools-version: 6.2
import PackageDescription

// A separate package: the flags that libFuzzer needs prevent a package from being a dependency of others.
let package = Package(
    name: "halcyon-fuzz",
    dependencies: [
        .package(
            name: "halcyon", path: "..", traits: ["JPEG", "PNG", "GIF", "WebP", "AVIF", "HEIC", "TIFF", "BMP", "SVG"])
    ],
    targets: [
        .executableTarget(
            name: "HalcyonFuzz",
            dependencies: [
                .product(name: "Halcyon", package: "halcyon"), .product(name: "HalcyonTesting", package: "halcyon"),
            ],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    ]
)
