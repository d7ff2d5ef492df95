// swift-tools-version: 6.2
import PackageDescription

/// Language mode 6 is the tools version's default; a warning is an error everywhere.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// Products of the library; the formats are found by being linked.
let halcyon: [Target.Dependency] = [
    "Halcyon", "HalcyonAVIF", "HalcyonHEIC", "HalcyonJPEGXL", "HalcyonObservability", "HalcyonRAW", "HalcyonSVG",
    "HalcyonTIFF",
].map { .product(name: $0, package: "halcyon") }

/// The packages of servers in Swift.
let packages: [Target.Dependency] = [
    .product(name: "Configuration", package: "swift-configuration"),
    .product(name: "CoreMetrics", package: "swift-metrics"),
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
    .product(name: "SystemPackage", package: "swift-system"),
    .product(name: "Tracing", package: "swift-distributed-tracing"),
    .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    .product(name: "Yams", package: "Yams"),
]

let package = Package(
    name: "halcyon-server",
    products: [
        .executable(name: "halcyon-server", targets: ["halcyon-server"])
    ],
    dependencies: [
        .package(name: "halcyon", path: "..", traits: ["Observability"]),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults, "YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The languages of URLs, without any work on pictures.
        .target(
            name: "ImageURLs", dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        // The client library of Redis, of the system.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        // A store of the library's caches in Redis, which the processes of a fleet share.
        .target(
            name: "RedisStore",
            dependencies: [
                "CHiredis", .product(name: "Halcyon", package: "halcyon"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: strict),
        .target(
            name: "HalcyonServer", dependencies: ["ImageURLs", "RedisStore"] + halcyon + packages,
            swiftSettings: strict),
        .executableTarget(name: "halcyon-server", dependencies: ["HalcyonServer"], swiftSettings: strict),
        .testTarget(name: "ImageURLsTests", dependencies: ["ImageURLs"], swiftSettings: strict),
        // Servers of Redis for tests, which start and kill them.
        .target(
            name: "RedisServing",
            dependencies: ["RedisStore", .product(name: "NIOConcurrencyHelpers", package: "swift-nio")],
            path: "Tests/RedisServing", swiftSettings: strict),
        .testTarget(
            name: "RedisStoreTests",
            dependencies: [
                "RedisStore", "RedisServing", .product(name: "Halcyon", package: "halcyon"),
                .product(name: "HalcyonTesting", package: "halcyon"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "HalcyonServerTests",
            dependencies: [
                "HalcyonServer", "RedisServing", .product(name: "HalcyonTesting", package: "halcyon"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ] + halcyon + packages,
            swiftSettings: strict),
    ]
)
