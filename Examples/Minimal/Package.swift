// swift-tools-version: 6.2
import PackageDescription

// Depends on the library alone: neither the tool nor the test server is built, nor any codec but the two it names.
let package = Package(
    name: "minimal",
    dependencies: [.package(name: "halcyon", path: "../..", traits: ["JPEG", "PNG"])],
    targets: [
        .executableTarget(name: "Minimal", dependencies: [.product(name: "Halcyon", package: "halcyon")])
    ]
)
