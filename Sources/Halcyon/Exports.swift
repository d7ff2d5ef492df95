// The names that `import Halcyon` brings from the modules below: those that programs use which load, show and cache images.
//
// A type is in the list if such a program has to write its name. Members come along in any case. The rest of a module is for
// those who write a coder, a transport, a store or a processor of their own, and has to be imported by its module's name.

import HalcyonProcessing

// Values.
@_exported import struct HalcyonImage.AnimatedImage
@_exported import enum HalcyonImage.AnimationError
@_exported import class HalcyonImage.Bitmap
@_exported import enum HalcyonImage.BitmapError
@_exported import class HalcyonImage.DeepBitmap
@_exported import enum HalcyonImage.NamedColorSpace
@_exported import struct HalcyonImage.Color
@_exported import struct HalcyonImage.GainMap
@_exported import struct HalcyonImage.Image
@_exported import struct HalcyonImage.ImageFormat
@_exported import struct HalcyonImage.ImageInfo
@_exported import struct HalcyonImage.KeyEncoder
@_exported import enum HalcyonImage.ColorSpace
@_exported import enum HalcyonImage.Orientation
@_exported import enum HalcyonImage.PixelLayout
@_exported import struct HalcyonImage.PixelRect
@_exported import struct HalcyonImage.PixelSize
@_exported import enum HalcyonImage.ResizeFilter
@_exported import enum HalcyonImage.ResizeLight
@_exported import enum HalcyonImage.ResizeMode
@_exported import struct HalcyonSystem.ProcessingThreads
@_exported import enum HalcyonSystem.RequestPriority
@_exported import class HalcyonSystem.SystemMemoryPressure
@_exported import struct HalcyonSystem.WorkContext
@_exported import class HalcyonSystem.WorkTicket

// Decoding and encoding.
@_exported import enum HalcyonCodecs.CodecError
@_exported import struct HalcyonCodecs.ByteLimit
@_exported import class HalcyonCodecs.CoderRegistry
@_exported import enum HalcyonCodecs.ColorHandling
@_exported import class HalcyonCodecs.DecodeBudget
@_exported import struct HalcyonCodecs.DecodeIsolation
@_exported import struct HalcyonCodecs.DecodeLimits
@_exported import struct HalcyonCodecs.DecodeOptions
@_exported import enum HalcyonCodecs.DecodeStop
@_exported import enum HalcyonCodecs.DecodeWorker
@_exported import class HalcyonCodecs.DecodeWorkers
@_exported import struct HalcyonCodecs.EncodeOptions
@_exported import enum HalcyonCodecs.FormatSniffer
@_exported import struct HalcyonCodecs.QualityTarget
@_exported import struct HalcyonCodecs.TargetSize

// Processing.
@_exported import enum HalcyonProcessing.BlendMode
@_exported import struct HalcyonProcessing.BlurHash
@_exported import enum HalcyonProcessing.BlurHashError
@_exported import struct HalcyonProcessing.ColorMatrix
@_exported import enum HalcyonProcessing.CornerRadius
@_exported import struct HalcyonProcessing.ImageBorder
@_exported import protocol HalcyonProcessing.ImageProcessor
@_exported import enum HalcyonProcessing.ProcessingError
@_exported import struct HalcyonProcessing.RectCorner

// Caching.
@_exported import class HalcyonCache.DiskCache
@_exported import enum HalcyonCache.DiskCacheError
@_exported import struct HalcyonCache.CacheEntry
@_exported import struct HalcyonCache.CacheKey
@_exported import enum HalcyonCache.CacheClaim
@_exported import class HalcyonCache.CacheClaimToken
@_exported import protocol HalcyonCache.CacheStore
@_exported import struct HalcyonCache.CacheStoreUsage
@_exported import enum HalcyonCache.ExpirationExtension
@_exported import struct HalcyonCache.MemoryCacheConfiguration
@_exported import struct HalcyonCache.MemoryCacheStatistics
@_exported import enum HalcyonCache.StorageExpiration

// The network.
@_exported import struct HalcyonNetwork.AcceptedContent
@_exported import struct HalcyonNetwork.AddressPolicy
@_exported import struct HalcyonNetwork.ClientCertificate
@_exported import enum HalcyonNetwork.ConnectionFailure
@_exported import struct HalcyonNetwork.Credential
@_exported import struct HalcyonNetwork.CredentialFields
@_exported import class HalcyonNetwork.CredentialRefresher
@_exported import class HalcyonNetwork.CurlTransport
@_exported import struct HalcyonNetwork.DownloadError
@_exported import struct HalcyonNetwork.DownloadHooks
@_exported import protocol HalcyonNetwork.DownloadInterceptor
@_exported import struct HalcyonNetwork.DownloadRequest
@_exported import struct HalcyonNetwork.DownloadResult
@_exported import struct HalcyonNetwork.DownloadTimeouts
@_exported import struct HalcyonNetwork.HTTPHeaders
@_exported import struct HalcyonNetwork.HTTPResponseHead
@_exported import enum HalcyonNetwork.HalcyonVersion
@_exported import class HalcyonNetwork.ImageDownloader
@_exported import struct HalcyonNetwork.MinimumRate
@_exported import struct HalcyonNetwork.ProgressStep
@_exported import enum HalcyonNetwork.RedirectFailure
@_exported import struct HalcyonNetwork.RedirectTarget
@_exported import struct HalcyonNetwork.RequestHooks
@_exported import struct HalcyonNetwork.RetryDelay
@_exported import struct HalcyonNetwork.RetryPolicy
@_exported import struct HalcyonNetwork.RetryableFailures
@_exported import class HalcyonNetwork.SystemNetworkMonitor
@_exported import enum HalcyonNetwork.TimeoutKind
@_exported import struct HalcyonNetwork.TransportMetrics

precedencegroup ProcessorChainPrecedence {
    associativity: left
    higherThan: AdditionPrecedence
}

infix operator |> : ProcessorChainPrecedence

/// Returns a chain of the left processor and the right one, as `appending(_:)` does.
public func |> (left: any ImageProcessor, right: any ImageProcessor) -> ChainProcessor {
    ChainProcessor([left, right])
}
