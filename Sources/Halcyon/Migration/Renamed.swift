// Names of Kingfisher, SDWebImage and Nuke that a newcomer writes first: the compiler offers the name of this library in their
// place. None can be used, so none is part of the public surface. docs/Migrating.md has all of them.

import Foundation
import HalcyonImage
import HalcyonProcessing

// MARK: - Types

@available(*, unavailable, renamed: "ImagePipeline")
public typealias KingfisherManager = ImagePipeline
@available(*, unavailable, renamed: "ImagePipelineError")
public typealias KingfisherError = ImagePipelineError
@available(*, unavailable, renamed: "ImageRequest", message: "options are properties of a request")
public typealias KingfisherOptionsInfo = ImageRequest
@available(*, unavailable, renamed: "ImageResponse")
public typealias RetrieveImageResult = ImageResponse
@available(*, unavailable, renamed: "ImageTask")
public typealias DownloadTask = ImageTask
@available(*, unavailable, renamed: "ImageSource")
public typealias ImageResource = ImageSource

@available(*, unavailable, renamed: "ImagePipeline")
public typealias SDWebImageManager = ImagePipeline
@available(*, unavailable, renamed: "ImageCache")
public typealias SDImageCache = ImageCache
@available(*, unavailable, renamed: "ImageDownloader")
public typealias SDWebImageDownloader = ImageDownloader
@available(*, unavailable, renamed: "ImagePrefetcher")
public typealias SDWebImagePrefetcher = ImagePrefetcher
@available(*, unavailable, renamed: "AnimatedImage")
public typealias SDAnimatedImage = AnimatedImage

@available(*, unavailable, renamed: "DiskCache")
public typealias DataCache = DiskCache
@available(*, unavailable, renamed: "ImageDownloader")
public typealias DataLoader = ImageDownloader
@available(*, unavailable, renamed: "ImageTarget")
public typealias FetchImage = ImageTarget
@available(*, unavailable, message: "processors are made by factories, such as .resize(to: size, mode: .fill)")
public enum ImageProcessors {}

// MARK: - Processors

@available(*, unavailable, renamed: "resize(to:)", message: "in a list of processors, .resize(to:), in pixels")
public func DownsamplingImageProcessor(size: PixelSize) -> ResizeProcessor { .resize(to: size) }
@available(*, unavailable, renamed: "resize(to:)", message: "in a list of processors, .resize(to:), in pixels")
public func ResizingImageProcessor(referenceSize: PixelSize) -> ResizeProcessor { .resize(to: referenceSize) }
@available(*, unavailable, renamed: "crop(to:)", message: "in a list of processors, .crop(to:), in pixels")
public func CroppingImageProcessor(size: PixelSize) -> CropProcessor { .crop(to: size) }
@available(*, unavailable, renamed: "roundCorners(radius:)", message: "in a list of processors, .roundCorners(radius:)")
public func RoundCornerImageProcessor(cornerRadius: Double) -> RoundCornersProcessor {
    .roundCorners(radius: cornerRadius)
}
@available(*, unavailable, renamed: "blur(radius:)", message: "in a list of processors, .blur(radius:)")
public func BlurImageProcessor(blurRadius: Double) -> BlurProcessor { .blur(radius: blurRadius) }

// MARK: - Members

extension ImagePipeline {
    @available(*, unavailable, renamed: "image(for:)")
    public func retrieveImage(with url: URL?) async throws -> Image { try await image(for: url) }

    @available(*, unavailable, renamed: "load(_:completion:)")
    public func retrieveImage(
        with url: URL?, completionHandler: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> ImageTask { load(url, completion: completionHandler) }

    @available(*, unavailable, renamed: "image(for:)")
    public func loadImage(with url: URL?) async throws -> Image { try await image(for: url) }

    @available(*, unavailable, renamed: "load(_:completion:)")
    public func loadImage(
        with url: URL?, completion: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> ImageTask { load(url, completion: completion) }

    @available(*, unavailable, renamed: "load(_:completion:)")
    public func loadImage(
        with request: ImageRequest, completion: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> ImageTask { load(request, completion: completion) }

    @available(*, unavailable, renamed: "task(for:)")
    public func imageTask(with url: URL?) -> ImageTask { task(for: url) }
}

extension ImageRequest {
    @available(*, unavailable, renamed: "init(_:processors:)")
    public init(url: URL?, processors: [any ImageProcessor] = []) { self.init(url, processors: processors) }
}

extension ImageCache {
    @available(*, unavailable, message: "a cache belongs to its pipeline: ImagePipeline.shared.cache")
    public static var `default`: ImageCache { ImagePipeline.shared.cache }

    @available(*, unavailable, message: "a cache belongs to its pipeline: ImagePipeline.shared.cache")
    public static var shared: ImageCache { ImagePipeline.shared.cache }
}

extension ImagePrefetcher {
    @available(*, unavailable, renamed: "init(_:)")
    public convenience init(urls: [URL]) { self.init(urls) }
}
