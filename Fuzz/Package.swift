// swift-tools-version: 6.2
import PackageDescription

// A separate package: the flags that libFuzzer needs prevent a package from being a dependency of others.
let package = Package(
    name: "halcyon-fuzz",
    dependencies: [
        .package(name: "halcyon", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "HalcyonFuzz",
            dependencies: [
                "Halcyon", "HalcyonAVIF", "HalcyonGdkPixbuf", "HalcyonHEIC", "HalcyonJPEGXL", "HalcyonRAW",
                "HalcyonTIFF", "HalcyonSVG", "HalcyonTesting",
            ].map {
                .product(name: $0, package: "halcyon")
            },
            swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    ]
)
