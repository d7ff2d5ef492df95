import HalcyonImage

/// An image on its way through the graph, with the bytes that it was made of.
struct DecodedImage: Sendable {
    var image: Image
    let fetched: FetchedData
    var decode: Duration
    var process: Duration?
}
