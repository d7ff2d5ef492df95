// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "thumbnail-server",
    dependencies: [
        .package(name: "halcyon", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        .executableTarget(
            name: "ThumbnailServer",
            dependencies: [
                .product(name: "Halcyon", package: "halcyon"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ])
    ]
)
