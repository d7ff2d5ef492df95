// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the flags that libFuzzer needs bar a package from being anyone's dependency.
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
