// swift-tools-version: 6.2
import PackageDescription

/// Language mode 6 is the tools version's default; a warning is an error everywhere.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// The library with all of its stages, for the targets that use them through `Halcyon`: the compiler leaves a module's file as
/// it is while its own interface stays the same, and a target that names that module alone is not compiled again.
let halcyon: [Target.Dependency] = [
    "Halcyon", "HalcyonSystem", "HalcyonImage", "HalcyonCodecs", "HalcyonProcessing", "HalcyonCache", "HalcyonNetwork",
]

/// The formats that a program links by a product of their own, without the one that is under the GPL.
let freeFormats: [Target.Dependency] = [
    "HalcyonAVIF", "HalcyonHEIC", "HalcyonJPEGXL", "HalcyonRAW", "HalcyonSVG", "HalcyonTIFF",
]
/// The formats that the loaders of the system decode, in decode workers only.
let loaderFormats: [Target.Dependency] = ["HalcyonGdkPixbuf"]
let moreFormats = freeFormats + ["HalcyonHEICEncoding"]

/// A C library of the system by its module map, which links it and finds its headers without a .pc file: SwiftPM reads the
/// .pc files of a whole package and warns of what stands in them, also for a program that uses none of it.
///
/// - Parameter pkgConfig: the .pc file of a library whose headers need it. Only a target behind a trait may depend on it.
func systemLibrary(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/CLibraries/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

/// The C library GTK, for programs that enable the trait.
let gtk: Target.Dependency = .target(name: "CGTK", condition: .when(traits: ["GTK"]))
/// The C library GStreamer, for programs that enable the trait.
let gstreamer: Target.Dependency = .target(name: "CGStreamer", condition: .when(traits: ["Video"]))
/// The parser of arguments, for the two programs.
let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Development"]))
/// The packages of servers in Swift that `HalcyonObservability` reports to, and their parts for tests.
func observability(_ products: [(name: String, package: String)]) -> [Target.Dependency] {
    products.map { .product(name: $0.name, package: $0.package, condition: .when(traits: ["Observability"])) }
}
let backends = observability([
    ("CoreMetrics", "swift-metrics"), ("Tracing", "swift-distributed-tracing"),
    ("ServiceLifecycle", "swift-service-lifecycle"),
])
let testBackends = observability([
    ("MetricsTestKit", "swift-metrics"), ("InMemoryTracing", "swift-distributed-tracing"),
])
/// The server of the tests and demos.
let flyingFox: [Target.Dependency] = ["FlyingFox", "FlyingSocks"].map {
    .product(name: $0, package: "FlyingFox", condition: .when(traits: ["Development"]))
}

/// One part of the little C that must be C.
///
/// - Parameter libraries: the libraries of the system that it calls and that no Swift module imports.
func cTarget(
    _ name: String, _ folder: String, dependencies: [Target.Dependency] = [], libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/CHalcyon/\(folder)",
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// One format: its module, which the registry of coders finds once a program links it.
func formatTarget(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name,
        dependencies: ["HalcyonCodecs", "HalcyonImage", "HalcyonSystem", "CHalcyonCodecs"] + dependencies,
        swiftSettings: strict)
}

/// - Parameter packageAccess: whether the target sees what is not public.
func testTarget(_ name: String, _ dependencies: [Target.Dependency], packageAccess: Bool = true) -> Target {
    .testTarget(name: name, dependencies: dependencies, packageAccess: packageAccess, swiftSettings: strict)
}

let package = Package(
    name: "halcyon",
    products: [
        // `import Halcyon` brings the names of Sources/Halcyon/Exports.swift; the other modules are imported for the rest.
        .library(
            name: "Halcyon",
            targets: [
                "Halcyon", "HalcyonCache", "HalcyonCodecs", "HalcyonImage", "HalcyonNetwork", "HalcyonProcessing",
                "HalcyonSystem",
            ]),
        // Formats beyond JPEG, PNG, WebP, GIF and BMP: to depend on the product is enough.
        .library(name: "HalcyonAVIF", targets: ["HalcyonAVIF"]),
        // PNM, TGA, XPM, XBM, ICNS and others by the loaders of gdk-pixbuf, which the system may have: in decode workers only.
        .library(name: "HalcyonGdkPixbuf", targets: ["HalcyonGdkPixbuf"]),
        .library(name: "HalcyonHEIC", targets: ["HalcyonHEIC"]),
        // Writes HEIC with x265, which is under the GPL.
        .library(name: "HalcyonHEICEncoding", targets: ["HalcyonHEICEncoding"]),
        .library(name: "HalcyonJPEGXL", targets: ["HalcyonJPEGXL"]),
        .library(name: "HalcyonRAW", targets: ["HalcyonRAW"]),
        .library(name: "HalcyonSVG", targets: ["HalcyonSVG"]),
        .library(name: "HalcyonTIFF", targets: ["HalcyonTIFF"]),
        // With the trait GTK.
        .library(name: "HalcyonGTK", targets: ["HalcyonGTK"]),
        // With the trait GTK: libhalcyon-gtk.so, for programs in C and what calls C. It has all formats but the writer of HEIC and
        // those of the loaders of the system.
        .library(name: "halcyon-gtk", type: .dynamic, targets: ["HalcyonGTKC"]),
        // With the trait Video. Apart from the others, so that no program loads GStreamer at its start but those that import it.
        .library(name: "HalcyonVideo", targets: ["HalcyonVideo"]),
        // With the trait Observability: metrics, spans and a service, by the packages of servers in Swift.
        .library(name: "HalcyonObservability", targets: ["HalcyonObservability"]),
        .library(name: "HalcyonTesting", targets: ["HalcyonTesting"]),
        .executable(name: "halcyon", targets: ["HalcyonTool"]),
        // Decodes for programs that isolate it; see docs/Isolation.md.
        .executable(name: "halcyon-decode-worker", targets: ["HalcyonDecodeWorker"]),
        .executable(name: "halcyon-gallery", targets: ["HalcyonGallery"]),
    ],
    // SwiftPM hands the names of all traits that are on to every compiler of the package, in an order of its own before
    // Swift 6.4: two at a time compile everything again at each build. A program needs one of them at most, so formats are
    // products and not traits.
    traits: [
        .trait(name: "GTK", description: "The module HalcyonGTK, which needs GTK 4."),
        .trait(name: "Video", description: "The module HalcyonVideo, which needs GStreamer."),
        .trait(
            name: "Observability",
            description:
                "The module HalcyonObservability: swift-metrics, swift-distributed-tracing, swift-service-lifecycle."),
        .trait(name: "Development", description: "The programs, demos and tests of this package."),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.3.0"),
    ],
    targets: [
        // C libraries of the system.
        systemLibrary("CJPEG", package: "libjpeg62-turbo-dev"),
        systemLibrary("CPNG", package: "libpng-dev"),
        systemLibrary("CWebP", package: "libwebp-dev"),
        systemLibrary("CGIF", package: "libgif-dev"),
        systemLibrary("CAVIF", package: "libavif-dev"),
        systemLibrary("CHEIF", package: "libheif-dev"),
        systemLibrary("CDE265", package: "libde265-dev"),
        systemLibrary("CBrotli", package: "libbrotli-dev"),
        systemLibrary("CJXL", package: "libjxl-dev"),
        systemLibrary("CRAW", package: "libraw-dev"),
        systemLibrary("CTIFF", package: "libtiff-dev"),
        systemLibrary("CRSVG", pkgConfig: "librsvg-2.0", package: "librsvg2-dev"),
        systemLibrary("CCurl", package: "libcurl4-openssl-dev"),
        systemLibrary("CLCMS", package: "liblcms2-dev"),
        systemLibrary("CZlib", package: "zlib1g-dev"),
        systemLibrary("CXXHash", package: "libxxhash-dev"),
        systemLibrary("CCrypto", package: "libssl-dev"),
        systemLibrary("CSSL", package: "libssl-dev"),
        systemLibrary("CCairo", package: "libcairo2-dev"),
        systemLibrary("CGTK", pkgConfig: "gtk4", package: "libgtk-4-dev"),
        systemLibrary("CGStreamer", pkgConfig: "gstreamer-1.0", package: "libgstreamer1.0-dev"),

        // The little C that must be C.
        cTarget("CHalcyonSystem", "System", dependencies: ["CCrypto"], libraries: ["crypto"]),
        cTarget("CHalcyonPixels", "Pixels"),
        cTarget("CHalcyonWorker", "Worker"),
        cTarget(
            "CHalcyonCodecs", "Codecs", dependencies: ["CHalcyonPixels", "CLCMS", "CJPEG", "CPNG"],
            libraries: ["lcms2", "jpeg", "png"]),
        cTarget("CHalcyonTIFF", "TIFF", dependencies: ["CHalcyonCodecs", "CTIFF"], libraries: ["tiff"]),
        cTarget(
            "CHalcyonSVG", "SVG", dependencies: ["CHalcyonCodecs", "CCairo"],
            libraries: ["rsvg-2", "gobject-2.0", "glib-2.0", "cairo"]),
        // No library of the system: a worker opens gdk-pixbuf and its loaders when it starts.
        cTarget("CHalcyonGdkPixbuf", "GdkPixbuf", dependencies: ["CHalcyonCodecs", "CHalcyonWorker"]),
        // Not a system library: its headers include each other by a path that only a .pc file knows, else this folder.
        .target(name: "CXML2", path: "Sources/CLibraries/CXML2", linkerSettings: [.linkedLibrary("xml2")]),
        cTarget("CHalcyonCurl", "Curl", dependencies: ["CCurl", "CSSL"], libraries: ["curl", "ssl", "crypto"]),
        cTarget("CHalcyonGTK", "GTK", dependencies: [gtk]),
        cTarget("CHalcyonGTKC", "GTKC", dependencies: [gtk]),
        cTarget("CHalcyonVideo", "Video", dependencies: [gstreamer]),

        // The library, a module per stage.
        .target(name: "HalcyonSystem", dependencies: ["CHalcyonSystem", "CCrypto", "CZlib"], swiftSettings: strict),
        .target(name: "HalcyonImage", dependencies: ["HalcyonSystem", "CHalcyonPixels"], swiftSettings: strict),
        .target(
            name: "HalcyonCodecs",
            dependencies: [
                "HalcyonImage", "HalcyonSystem", "CHalcyonCodecs", "CHalcyonPixels", "CHalcyonWorker",
                "CWebP", "CGIF", "CZlib",
            ],
            swiftSettings: strict),
        formatTarget("HalcyonAVIF", ["CAVIF"]),
        formatTarget("HalcyonGdkPixbuf", ["CHalcyonGdkPixbuf"]),
        formatTarget("HalcyonHEIC", ["CHEIF", "CDE265"]),
        formatTarget("HalcyonHEICEncoding", ["CHEIF"]),
        formatTarget("HalcyonJPEGXL", ["CJXL", "CBrotli"]),
        formatTarget("HalcyonRAW", []),
        formatTarget("HalcyonSVG", ["CHalcyonSVG", "CXML2", "CZlib"]),
        formatTarget("HalcyonTIFF", ["CHalcyonTIFF"]),
        .target(
            name: "HalcyonProcessing",
            dependencies: ["HalcyonImage", "HalcyonSystem", "CHalcyonPixels", "CCairo", "CXXHash"],
            swiftSettings: strict),
        .target(
            name: "HalcyonCache", dependencies: ["HalcyonImage", "HalcyonSystem", "CHalcyonSystem", "CXXHash"],
            swiftSettings: strict),
        .target(
            name: "HalcyonNetwork", dependencies: ["HalcyonSystem", "CHalcyonCurl", "CCurl"],
            swiftSettings: strict),
        .target(
            name: "Halcyon",
            dependencies: [
                "HalcyonSystem", "HalcyonImage", "HalcyonCodecs", "HalcyonProcessing", "HalcyonCache",
                "HalcyonNetwork", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(name: "HalcyonGTK", dependencies: halcyon + ["CHalcyonGTK", gtk], swiftSettings: strict),
        .target(
            name: "HalcyonGTKC", dependencies: halcyon + freeFormats + ["HalcyonGTK", "CHalcyonGTKC", gtk],
            swiftSettings: strict),
        .target(
            name: "HalcyonVideo",
            dependencies: [
                "Halcyon", "HalcyonSystem", "HalcyonImage", "HalcyonCodecs", "CHalcyonVideo",
            ],
            swiftSettings: strict),
        .target(name: "HalcyonObservability", dependencies: halcyon + backends, swiftSettings: strict),
        .target(name: "HalcyonTesting", dependencies: halcyon, swiftSettings: strict),

        // The command-line tool. Its folder is not `halcyon`: beside `Halcyon` that breaks a clone on
        // file systems that fold case.
        .executableTarget(
            name: "HalcyonTool",
            dependencies: halcyon + moreFormats + loaderFormats + ["DemoServer", argumentParser],
            swiftSettings: strict),

        // The worker of isolated decodes. It links the codecs and nothing else.
        .executableTarget(
            name: "HalcyonDecodeWorker", dependencies: ["HalcyonCodecs"] + freeFormats + loaderFormats,
            swiftSettings: strict),

        // The GTK demo, and the server of the pictures of both demos.
        .executableTarget(
            name: "HalcyonGallery",
            dependencies: halcyon + moreFormats + ["HalcyonGTK", "DemoServer", gtk, argumentParser],
            swiftSettings: strict),
        .target(
            name: "DemoServer", dependencies: flyingFox, swiftSettings: strict),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: halcyon + flyingFox + ["HalcyonTesting"],
            path: "Tests/TestSupport", swiftSettings: strict),
        // Started by the tests of the disk cache, to be killed and to share a folder.
        .executableTarget(
            name: "CacheStress", dependencies: ["HalcyonCache", "HalcyonSystem"], path: "Tests/CacheStress",
            swiftSettings: strict),
        // Stands in the place of the C library's look-up of names in the tests' program.
        .target(name: "CTestResolver", path: "Tests/CTestResolver", cSettings: [.treatAllWarnings(as: .error)]),
        // Compares the declarations of librsvg's functions with its own header.
        .target(
            name: "CTestSVG",
            dependencies: [.target(name: "CRSVG", condition: .when(traits: ["Development"]))],
            path: "Tests/CTestSVG", cSettings: [.treatAllWarnings(as: .error)]),
        // The same for gdk-pixbuf, whose header librsvg's brings along.
        .target(
            name: "CTestGdkPixbuf",
            dependencies: [.target(name: "CRSVG", condition: .when(traits: ["Development"]))],
            path: "Tests/CTestGdkPixbuf", cSettings: [.treatAllWarnings(as: .error)]),
        // Compiles the header of the C interface in C and in C++.
        .target(
            name: "CTestGTK", dependencies: ["CHalcyonGTKC", gtk], path: "Tests/CTestGTK",
            cSettings: [.treatAllWarnings(as: .error)], cxxSettings: [.treatAllWarnings(as: .error)]),
        // Writes the videos of the tests.
        .target(
            name: "CTestVideo",
            dependencies: [gstreamer], path: "Tests/CTestVideo", cSettings: [.treatAllWarnings(as: .error)]),
        // Started by the tests of large bodies, for their memory.
        .executableTarget(
            name: "BodyMemory", dependencies: halcyon + ["TestSupport"], path: "Tests/BodyMemory",
            swiftSettings: strict),
        // Started by the tests of hostile files, for their memory and time, and since a file may end it.
        .executableTarget(
            name: "HostileDecode", dependencies: halcyon + moreFormats + loaderFormats + ["TestSupport", "CZlib"],
            path: "Tests/HostileDecode",
            swiftSettings: strict),
        // Started by the tests of isolated decoding, as a worker whose coder attacks and as one that lies.
        .executableTarget(
            name: "DecodeBox",
            dependencies: ["HalcyonCodecs", "HalcyonImage", "HalcyonSystem", "CHalcyonWorker", "CHalcyonSVG"]
                + freeFormats,
            path: "Tests/DecodeBox", swiftSettings: strict),
        // Started by the tests of calls that fail; its C stands in the place of the C library's.
        .target(name: "CFailingCalls", path: "Tests/CFailingCalls", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "FailingCalls", dependencies: halcyon + moreFormats + ["CFailingCalls"], path: "Tests/FailingCalls",
            swiftSettings: strict),
        // Started by the tests of programs that end in the middle of their work.
        .executableTarget(
            name: "EndingProgram", dependencies: halcyon + moreFormats, path: "Tests/EndingProgram",
            swiftSettings: strict),
        // The programs of docs/GettingStarted.md, which `make follow` builds as packages of their own.
        .executableTarget(
            name: "MinimalExample", dependencies: halcyon, path: "Examples/Minimal/Sources/Minimal",
            swiftSettings: strict),
        .executableTarget(
            name: "WindowExample", dependencies: ["HalcyonGTK", gtk], path: "Examples/Window/Sources/Window",
            swiftSettings: strict),
        // Started by the tests of the main loop.
        .executableTarget(
            name: "MainLoopProgram", dependencies: halcyon + ["HalcyonGTK", gtk], path: "Tests/MainLoopProgram",
            swiftSettings: strict),
    ]
        + [
            testTarget("HalcyonSystemTests", ["HalcyonSystem"]),
            testTarget("HalcyonImageTests", ["HalcyonImage", "HalcyonSystem"]),
            testTarget(
                "HalcyonCodecsTests",
                halcyon + moreFormats + loaderFormats + [
                    "TestSupport", "CHalcyonCodecs", "CHalcyonSVG", "CTestGdkPixbuf", "CTestSVG", "CJXL", "CRAW",
                    "CZlib", "DecodeBox",
                    "HalcyonDecodeWorker",
                ]),
            testTarget("HalcyonProcessingTests", halcyon + ["TestSupport"]),
            testTarget("HalcyonCacheTests", halcyon + ["TestSupport", "CacheStress"]),
            testTarget(
                "HalcyonNetworkTests",
                halcyon + ["TestSupport", "CTestResolver", "CHalcyonCurl", "CCurl", "CSSL", "CZlib", "BodyMemory"]),
            testTarget(
                "HalcyonTests",
                halcyon + [
                    "HalcyonTesting", "TestSupport", "DecodeBox", "HalcyonDecodeWorker",
                    .product(name: "Logging", package: "swift-log"),
                ]),
            testTarget(
                "HalcyonGTKTests",
                halcyon + [
                    "HalcyonGTK", "HalcyonGTKC", "CHalcyonGTKC", "CTestGTK", "HalcyonTesting", "TestSupport", gtk,
                    "MainLoopProgram",
                ]),
            testTarget(
                "HalcyonObservabilityTests",
                halcyon + backends + testBackends + ["HalcyonObservability", "HalcyonTesting", "TestSupport"]),
            testTarget("HalcyonVideoTests", halcyon + ["HalcyonVideo", "TestSupport", "CTestVideo"]),
            testTarget("HalcyonGalleryTests", halcyon + ["TestSupport", "HalcyonGallery"]),
            testTarget("HalcyonToolTests", halcyon + ["HalcyonTool", "HalcyonTesting", "TestSupport"]),
            // Not `FailingCalls`, whose calls that fail would stand in the place of the C library's in the tests' program.
            testTarget(
                "ResilienceTests",
                halcyon + ["TestSupport", "EndingProgram", "HostileDecode", "HalcyonDecodeWorker", "CZlib"]),
            // The snippets of the documents are users' code.
            testTarget(
                "SnippetTests",
                halcyon + backends + [
                    "HalcyonGTK", "HalcyonObservability", "HalcyonTesting", "HalcyonVideo", gtk,
                    .product(name: "Logging", package: "swift-log"),
                ],
                packageAccess: false),
        ]
)
