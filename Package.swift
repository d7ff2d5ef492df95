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

/// A C library that Debian ships: its module map, its .pc file and the package that carries both.
/// Without a .pc file where SwiftPM warns of what stands in it; the module map links the library by itself.
func systemLibrary(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/CLibraries/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

/// One part of the little C that must be C.
func cTarget(_ name: String, _ folder: String, dependencies: [Target.Dependency] = [], settings: [CSetting] = [])
    -> Target
{
    .target(name: name, dependencies: dependencies, path: "Sources/CHalcyon/\(folder)", cSettings: settings)
}

/// - Parameter packageAccess: whether the target sees what is not public.
func testTarget(_ name: String, _ dependencies: [Target.Dependency], packageAccess: Bool = true) -> Target {
    .testTarget(name: name, dependencies: dependencies, packageAccess: packageAccess, swiftSettings: strict)
}

func codecTrait(_ name: String, library: String) -> Trait {
    .trait(name: name, description: "Decode and encode \(name) with \(library).")
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
        .library(name: "HalcyonGTK", targets: ["HalcyonGTK"]),
        .library(name: "HalcyonTesting", targets: ["HalcyonTesting"]),
        .executable(name: "halcyon", targets: ["HalcyonTool"]),
        .executable(name: "halcyon-gallery", targets: ["HalcyonGallery"]),
    ],
    traits: [
        codecTrait("JPEG", library: "libjpeg-turbo"),
        codecTrait("PNG", library: "libpng"),
        codecTrait("WebP", library: "libwebp"),
        codecTrait("GIF", library: "giflib"),
        codecTrait("AVIF", library: "libavif"),
        .trait(name: "TIFF", description: "Decode TIFF with libtiff."),
        .trait(name: "BMP", description: "Decode BMP, without a library."),
        .trait(name: "SVG", description: "Draw SVG with librsvg."),
        .trait(name: "HEIC", description: "Decode HEIC and HEIF with libheif."),
        .trait(
            name: "HEICEncoding", description: "Write HEIC with libheif and x265, which is under the GPL.",
            enabledTraits: ["HEIC"]),
        .default(enabledTraits: ["JPEG", "PNG", "WebP", "GIF"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        // C libraries of the system.
        systemLibrary("CJPEG", pkgConfig: "libjpeg", package: "libjpeg62-turbo-dev"),
        systemLibrary("CPNG", pkgConfig: "libpng", package: "libpng-dev"),
        systemLibrary("CWebP", pkgConfig: "libwebp", package: "libwebp-dev"),
        systemLibrary("CGIF", pkgConfig: "libgif", package: "libgif-dev"),
        systemLibrary("CAVIF", package: "libavif-dev"),
        systemLibrary("CHEIF", pkgConfig: "libheif", package: "libheif-dev"),
        systemLibrary("CTIFF", pkgConfig: "libtiff-4", package: "libtiff-dev"),
        systemLibrary("CRSVG", pkgConfig: "librsvg-2.0", package: "librsvg2-dev"),
        systemLibrary("CXML2", pkgConfig: "libxml-2.0", package: "libxml2-dev"),
        systemLibrary("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        systemLibrary("CLCMS", pkgConfig: "lcms2", package: "liblcms2-dev"),
        systemLibrary("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        systemLibrary("CXXHash", pkgConfig: "libxxhash", package: "libxxhash-dev"),
        systemLibrary("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
        systemLibrary("CSSL", pkgConfig: "openssl", package: "libssl-dev"),
        systemLibrary("CCairo", pkgConfig: "cairo", package: "libcairo2-dev"),
        systemLibrary("CGTK", pkgConfig: "gtk4", package: "libgtk-4-dev"),

        // The little C that must be C.
        cTarget("CHalcyonSystem", "System", dependencies: ["CCrypto"]),
        cTarget("CHalcyonPixels", "Pixels"),
        cTarget(
            "CHalcyonCodecs", "Codecs",
            dependencies: [
                "CLCMS",
                .target(name: "CJPEG", condition: .when(traits: ["JPEG"])),
                .target(name: "CPNG", condition: .when(traits: ["PNG"])),
                .target(name: "CTIFF", condition: .when(traits: ["TIFF"])),
                .target(name: "CRSVG", condition: .when(traits: ["SVG"])),
            ],
            settings: [
                .define("HALCYON_JPEG", .when(traits: ["JPEG"])),
                .define("HALCYON_PNG", .when(traits: ["PNG"])),
                .define("HALCYON_TIFF", .when(traits: ["TIFF"])),
                .define("HALCYON_SVG", .when(traits: ["SVG"])),
            ]),
        cTarget("CHalcyonCurl", "Curl", dependencies: ["CCurl", "CSSL"]),
        cTarget("CHalcyonGTK", "GTK", dependencies: ["CGTK"]),

        // The library, a module per stage.
        .target(name: "HalcyonSystem", dependencies: ["CHalcyonSystem", "CCrypto", "CZlib"], swiftSettings: strict),
        .target(name: "HalcyonImage", dependencies: ["HalcyonSystem", "CHalcyonPixels"], swiftSettings: strict),
        .target(
            name: "HalcyonCodecs",
            dependencies: [
                "HalcyonImage", "HalcyonSystem", "CHalcyonCodecs", "CHalcyonPixels",
                .target(name: "CWebP", condition: .when(traits: ["WebP"])),
                .target(name: "CGIF", condition: .when(traits: ["GIF"])),
                .target(name: "CZlib", condition: .when(traits: ["PNG", "SVG"])),
                .target(name: "CAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "CHEIF", condition: .when(traits: ["HEIC"])),
                .target(name: "CXML2", condition: .when(traits: ["SVG"])),
            ],
            swiftSettings: strict),
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
        .target(name: "HalcyonGTK", dependencies: halcyon + ["CHalcyonGTK", "CGTK"], swiftSettings: strict),
        .target(name: "HalcyonTesting", dependencies: halcyon, swiftSettings: strict),

        // The command-line tool. Its folder is not `halcyon`: beside `Halcyon` that breaks a clone on
        // file systems that fold case.
        .executableTarget(
            name: "HalcyonTool",
            dependencies: halcyon + [
                "DemoServer", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // The GTK demo, and the server of the pictures of both demos.
        .executableTarget(
            name: "HalcyonGallery",
            dependencies: halcyon + [
                "HalcyonGTK", "DemoServer", "CGTK",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(
            name: "DemoServer",
            dependencies: [
                .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            swiftSettings: strict),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: halcyon + [
                "HalcyonTesting", .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        // Started by the tests of the disk cache, to be killed and to share a folder.
        .executableTarget(
            name: "CacheStress", dependencies: ["HalcyonCache", "HalcyonSystem"], path: "Tests/CacheStress",
            swiftSettings: strict),
        // Stands in the place of the C library's look-up of names in the tests' program.
        .target(name: "CTestResolver", path: "Tests/CTestResolver", cSettings: [.treatAllWarnings(as: .error)]),
        // Started by the tests of large bodies, for their memory.
        .executableTarget(
            name: "BodyMemory", dependencies: halcyon + ["TestSupport"], path: "Tests/BodyMemory",
            swiftSettings: strict),
        // Started by the tests of hostile files, for their memory and time, and since a file may end it.
        .executableTarget(
            name: "HostileDecode", dependencies: halcyon + ["TestSupport", "CZlib"], path: "Tests/HostileDecode",
            swiftSettings: strict),
        // Started by the tests of calls that fail; its C stands in the place of the C library's.
        .target(name: "CFailingCalls", path: "Tests/CFailingCalls", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "FailingCalls", dependencies: halcyon + ["CFailingCalls"], path: "Tests/FailingCalls",
            swiftSettings: strict),
        // Started by the tests of programs that end in the middle of their work.
        .executableTarget(
            name: "EndingProgram", dependencies: halcyon, path: "Tests/EndingProgram", swiftSettings: strict),
        // Started by the tests of the main loop.
        .executableTarget(
            name: "MainLoopProgram", dependencies: halcyon + ["HalcyonGTK", "CGTK"], path: "Tests/MainLoopProgram",
            swiftSettings: strict),
    ]
        + [
            testTarget("HalcyonSystemTests", ["HalcyonSystem"]),
            testTarget("HalcyonImageTests", ["HalcyonImage", "HalcyonSystem"]),
            testTarget("HalcyonCodecsTests", halcyon + ["TestSupport", "CZlib"]),
            testTarget("HalcyonProcessingTests", halcyon + ["TestSupport"]),
            testTarget("HalcyonCacheTests", halcyon + ["TestSupport", "CacheStress"]),
            testTarget(
                "HalcyonNetworkTests",
                halcyon + ["TestSupport", "CTestResolver", "CHalcyonCurl", "CCurl", "CSSL", "CZlib", "BodyMemory"]),
            testTarget(
                "HalcyonTests",
                halcyon + ["HalcyonTesting", "TestSupport", .product(name: "Logging", package: "swift-log")]),
            testTarget(
                "HalcyonGTKTests",
                halcyon + ["HalcyonGTK", "HalcyonTesting", "TestSupport", "CGTK", "MainLoopProgram"]),
            testTarget("HalcyonGalleryTests", halcyon + ["TestSupport", "HalcyonGallery"]),
            testTarget("HalcyonToolTests", halcyon + ["HalcyonTool", "TestSupport"]),
            // Not `FailingCalls`, whose calls that fail would stand in the place of the C library's in the tests' program.
            testTarget("ResilienceTests", halcyon + ["TestSupport", "EndingProgram", "HostileDecode", "CZlib"]),
            // The snippets of the documents are users' code.
            testTarget(
                "SnippetTests", halcyon + ["HalcyonGTK", "CGTK", .product(name: "Logging", package: "swift-log")],
                packageAccess: false),
        ]
)
