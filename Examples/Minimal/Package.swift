// swift-tools-version: 6.2
import PackageDescription

// Depends on the library alone: neither the tool nor the tests are built, and nothing is fetched for them.
let package = Package(
    name: "minimal",
    dependencies: [.package(name: "halcyon", path: "../..")],
    targets: [
        .executableTarget(name: "Minimal", dependencies: [.product(name: "Halcyon", package: "halcyon")])
    ]
)
