// swift-tools-version: 6.2
import PackageDescription

/// Settings of all Swift targets. Language mode 6 is the tools version's default; a warning is an error everywhere.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// The libraries that the floors call directly; Halcyon itself links them too.
let libraries = ["avif", "curl", "gif", "jpeg", "jxl", "png", "webp"]

/// The library with its formats.
let halcyon: [Target.Dependency] = [
    "Halcyon", "HalcyonAVIF", "HalcyonHEIC", "HalcyonJPEGXL", "HalcyonRAW", "HalcyonTIFF", "HalcyonSVG",
].map {
    .product(name: $0, package: "halcyon")
}

let package = Package(
    name: "halcyon-benchmarks",
    products: [
        .executable(name: "halcyon-bench", targets: ["HalcyonBench"]),
        .executable(name: "halcyon-memory", targets: ["HalcyonMemory"]),
        .executable(name: "halcyon-isolation", targets: ["HalcyonIsolation"]),
        .executable(name: "halcyon-view-bench", targets: ["HalcyonViewBench"]),
    ],
    dependencies: [
        // The name is given, as the identity of a path would be the name of the clone's folder.
        .package(name: "halcyon", path: "..", traits: ["GTK", "Observability"]),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
    ],
    targets: [
        .target(
            name: "CFloors", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: libraries.map { .linkedLibrary($0) }),
        .executableTarget(
            name: "HalcyonBench",
            dependencies: halcyon + [
                "CFloors", .product(name: "HalcyonTesting", package: "halcyon"),
                .product(name: "HalcyonObservability", package: "halcyon"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict),
        .target(name: "BenchSupport", swiftSettings: strict),
        .executableTarget(
            name: "HalcyonMemory",
            dependencies: halcyon + ["BenchSupport", .product(name: "HalcyonGdkPixbuf", package: "halcyon")],
            swiftSettings: strict),
        .executableTarget(
            name: "HalcyonIsolation", dependencies: halcyon + [.product(name: "HalcyonGTK", package: "halcyon")],
            swiftSettings: strict),
        .executableTarget(
            name: "HalcyonViewBench", dependencies: ["BenchSupport", .product(name: "HalcyonGTK", package: "halcyon")],
            swiftSettings: strict),
    ]
)
