import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Changes to a part of a configuration.
@Suite(.timeLimit(.minutes(5)))
struct ConfigurationTests {
    @Test func aChangedDownloaderKeepsTheRest() throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.url)
        var configuration = ImagePipeline.Configuration(cache: ImageCache(disk: disk))
        let accept = try #require(configuration.downloader.defaultHeaders["Accept"])
        configuration.downloader.setDefaultHeader("X-Shelf", "7")
        configuration.changeDownloader { $0.retry = .never }
        let changed = configuration.downloader
        #expect(changed.configuration.retry == .never)
        #expect(changed.defaultHeaders["Accept"] == accept && accept.contains("image/png"))
        #expect(changed.defaultHeaders["X-Shelf"] == "7" && changed.defaultHeaders["User-Agent"] != nil)
        #expect(changed.configuration.partialBodies != nil)
    }

    @Test func partialBodiesFollowTheCache() throws {
        let (first, second) = (TemporaryFolder(), TemporaryFolder())
        var configuration = ImagePipeline.Configuration(cache: ImageCache(disk: DiskCache(folder: first.url)))
        func store() -> PartialBodyFiles? { configuration.downloader.configuration.partialBodies as? PartialBodyFiles }
        let former = try #require(store())
        configuration.changeDownloader { $0.retry = .never }
        #expect(store() === former)
        configuration.cache = ImageCache(disk: DiskCache(folder: second.url))
        let moved = try #require(store())
        #expect(moved !== former && configuration.downloader.configuration.retry == .never)
        configuration.originalCache = ImageCache(disk: DiskCache(folder: first.url))
        #expect(store() !== moved)
        // The program's own choice stays.
        configuration.changeDownloader { $0.partialBodies = former }
        configuration.cache = ImageCache(disk: nil)
        #expect(store() === former)
        configuration.changeDownloader { $0.partialBodies = nil }
        configuration.cache = ImageCache(disk: nil)
        #expect(store() == nil)
    }

    @Test func acceptFollowsTheCoders() {
        var configuration = ImagePipeline.Configuration(cache: ImageCache(disk: nil))
        let none = CoderRegistry()
        configuration.coders = none
        #expect(configuration.downloader.defaultHeaders["Accept"] == "image/*;q=0.8,*/*;q=0.5")
        // The program's own field stays, and so does the program's own downloader.
        configuration.downloader.setDefaultHeader("Accept", "image/gif")
        configuration.coders = .shared
        #expect(configuration.downloader.defaultHeaders["Accept"] == "image/gif")
        configuration.downloader = ImageDownloader()
        configuration.coders = none
        #expect(configuration.downloader.defaultHeaders["Accept"] == nil)
    }

    @Test func aPipelineIsMadeFromChanges() {
        let pipeline = ImagePipeline {
            $0.cache = ImageCache(disk: nil)
            $0.maximumBytes = 5
        }
        #expect(pipeline.configuration.maximumBytes == 5 && pipeline.cache.disk == nil)
    }

    @Test func theSharedPipelineIsConfiguredOnce() async {
        await #expect(processExitsWith: .success) {
            struct Refused: Error {}
            // A configuration that fails is none.
            #expect(throws: Refused.self) { try ImagePipeline.bootstrap { _ in throw Refused() } }
            try ImagePipeline.bootstrap {
                $0.cache = ImageCache(disk: nil)
                $0.maximumBytes = 5
            }
            #expect(ImagePipeline.shared.configuration.maximumBytes == 5)
            let error = #expect(throws: SharedPipelineError.inUse) {
                try ImagePipeline.bootstrap { $0.maximumBytes = 6 }
            }
            #expect(error?.localizedDescription.contains("before the first use") == true)
            #expect(ImagePipeline.shared.configuration.maximumBytes == 5)
        }
    }

    @Test func aSharedPipelineInUseIsNotConfigured() async {
        await #expect(processExitsWith: .success) {
            let used = ImagePipeline.shared
            #expect(throws: SharedPipelineError.inUse) { try ImagePipeline.bootstrap { $0.maximumBytes = 6 } }
            #expect(ImagePipeline.shared === used && used.configuration.maximumBytes != 6)
        }
    }
}
