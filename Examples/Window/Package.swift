// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "window",
    dependencies: [.package(name: "halcyon", path: "../..", traits: ["GTK"])],
    targets: [
        .executableTarget(name: "Window", dependencies: [.product(name: "HalcyonGTK", package: "halcyon")])
    ]
)
