/// The left-hand sides that docs/Migrating.md must have, in the order of its tables where they are whole ones.
enum MigrationNames {
    static let kingfisherOptions = [
        ".targetCache", ".originalCache", ".downloader", ".downloadPriority", ".transition", ".forceTransition",
        ".forceRefresh", ".fromMemoryCacheOrRefresh", ".cacheMemoryOnly", ".waitForCache", ".onlyFromCache",
        ".backgroundDecode", ".preloadAllAnimationData", ".onlyLoadFirstFrame", ".callbackQueue", ".processingQueue",
        ".requestModifier", ".redirectHandler", ".processor", ".imageModifier", ".cacheSerializer",
        ".keepCurrentImageWhileLoading", ".cacheOriginalImage", ".onFailureImage", ".alsoPrefetchToMemory",
        ".loadDiskFileSynchronously", ".memoryCacheExpiration", ".diskCacheExpiration",
        ".memoryCacheAccessExtendingExpiration", ".diskCacheAccessExtendingExpiration", ".alternativeSources",
        ".onDataReceived",
    ]

    static let sdWebImageOptions = [
        "retryFailed", "lowPriority", "progressiveLoad", "refreshCached", "continueInBackground", "handleCookies",
        "allowInvalidSSLCertificates", "highPriority", "delayPlaceholder", "transformAnimatedImage",
        "avoidAutoSetImage", "scaleDownLargeImages", "queryMemoryData", "queryMemoryDataSync", "queryDiskDataSync",
        "fromCacheOnly", "fromLoaderOnly", "forceTransition", "avoidDecodeImage", "decodeFirstFrameOnly",
        "preloadAllFrames", "matchAnimatedImageClass", "waitStoreCache", "transformVectorImage",
        "avoidAutoCancelImage", "waitTransition",
    ]

    static let sdWebImageContextKeys = [
        "setImageOperationKey", "customManager", "callbackQueue", "imageCache", "imageLoader", "imageCoder",
        "imageTransformer", "imageForceDecodePolicy", "imageDecodeOptions", "imageScaleFactor",
        "imagePreserveAspectRatio", "imageThumbnailPixelSize", "imageTypeIdentifierHint", "imageScaleDownLimitBytes",
        "imageDecodeToHDR", "imageEncodeOptions", "queryCacheType", "storeCacheType", "originalQueryCacheType",
        "originalStoreCacheType", "originalImageCache", "animatedImageClass", "downloadRequestModifier",
        "downloadResponseModifier", "downloadDecryptor", "cacheKeyFilter", "cacheSerializer",
    ]

    static let nukeOptions = [
        "disableMemoryCacheReads", "disableMemoryCacheWrites", "disableMemoryCache", "disableDiskCacheReads",
        "disableDiskCacheWrites", "disableDiskCache", "reloadIgnoringCachedData", "returnCacheDataDontLoad",
        "skipDecompression", "skipDataLoadingQueue",
    ]

    static let kingfisherTypes = [
        "KingfisherManager", "Source", "Resource", "ImageResource", "ImageDataProvider", "LocalFileImageDataProvider",
        "Base64ImageDataProvider", "RawImageDataProvider", "ImageCache", "MemoryStorage", "DiskStorage",
        "StorageExpiration", "ExpirationExtending", "StorageObject", "CacheSerializer", "DefaultCacheSerializer",
        "FormatIndicatedCacheSerializer", "ImageDownloader", "ImageDownloaderDelegate", "DownloadTask",
        "AuthenticationChallengeResponsible", "ImageDownloadRequestModifier", "ImageDownloadRedirectHandler",
        "RetryStrategy", "ImagePrefetcher", "PrefetcherProgressBlock", "ImageProcessor", "ImageModifier",
        "CallbackQueue", "ImageFormat", "GIFAnimatedImage", "ImageProgressive", "KingfisherError",
        "KingfisherDidCleanDiskCache", "Placeholder", "Indicator", "IndicatorType", "ImageTransition",
        "AnimatedImageView", "Animator", "CATiledLayer", "DefaultImageProcessor", "DownsamplingImageProcessor",
        "CroppingImageProcessor", "RoundCornerImageProcessor", "BlurImageProcessor", "OverlayImageProcessor",
        "TintImageProcessor", "ColorControlsProcessor", "BlackWhiteProcessor", "BlendImageProcessor",
    ]

    static let sdWebImageTypes = [
        "SDWebImageCompat", "SDWebImageOperation", "SDWebImageCombinedOperation", "SDWebImageDownloadToken",
        "SDImageCache", "SDImageCacheConfig", "SDWebImageDownloader", "SDWebImageDownloaderOperation",
        "SDWebImageDownloaderOperationInterface", "SDWebImageManager", "SDWebImageManagerDelegate",
        "SDWebImagePrefetcher", "SDWebImageCodersManager", "SDImageCodersManager", "SDWebImageCoder",
        "SDWebImageImageIOCoder", "SDWebImageGIFCoder", "SDWebImageWebPCoder", "SDWebImageFrame", "SDImageFrame",
        "SDWebImageCoderHelper", "SDImageScaleFactorForKey", "SDSetImageBlock", "SDWebImageExternalCustomManagerKey",
        "SDAnimatedImage", "SDAnimatedImageView", "SDImageTransformer", "SDWebImageOptionsProcessor",
        "SDWebImageCacheKeyFilter", "SDWebImageCacheSerializer", "SDWebImageIndicator", "SDWebImageTransition",
        "SDImageLoader", "SDImageLoadersManager", "SDImageCachesManager", "SDMemoryCache", "SDDiskCache",
        "SDWebImageDownloaderConfig", "SDWebImageDownloaderRequestModifier", "SDWebImageDownloaderResponseModifier",
        "SDWebImageDownloaderDecryptor", "SDWebImageError", "SDCallbackQueue", "UIView+WebCache",
        "UIView+WebCacheOperation", "UIImageView+WebCache", "UIImageView+HighlightedWebCache", "UIButton+WebCache",
        "MKAnnotationView+WebCache", "FLAnimatedImageView", "FLAnimatedImage", "UIImage+ForceDecode", "CADisplayLink",
        "UIImage+MultiFormat", "UIImage+GIF", "NSData+ImageContentType", "SDWebImagePhotosPlugin",
        "SDWebImageLinkPlugin", "SDWebImageAVIFCoder", "SDWebImageHEIFCoder", "SDWebImageSVGCoder",
        "SDWebImagePDFCoder", "SDWebImageLottieCoder", "SDWebImageJPEGXLCoder",
    ]

    static let nukeTypes = [
        "ImagePipeline", "ImagePipeline.Configuration", "ImagePipelineDelegate", "ImageRequest", "ImageResponse",
        "ImageContainer", "ImageTask", "ImageCaching", "DataCache", "DataCaching", "DataLoader", "DataLoading",
        "ImagePrefetcher", "ImageDecoding", "ImageEncoding", "ImageProcessing", "ImageProcessors.Resize",
    ]
}
