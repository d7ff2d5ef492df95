import HalcyonImage

/// What a load job ends with.
struct LoadedImage: Sendable {
    let image: Image
    let origin: ImageOrigin
    /// Of the encoded bytes that it was made of.
    let encodedBytes: Int
    /// Nil where the finished image was in a cache.
    let fetched: FetchedData?
    var decode: Duration?
    var process: Duration?
}
