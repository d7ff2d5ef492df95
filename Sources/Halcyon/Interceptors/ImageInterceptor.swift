/// An interceptor between the callers of a pipeline and its loads: it may change a request, answer by itself, load again,
/// check or replace the response, or refuse.
///
///     struct Retrying: ImageInterceptor {
///         func intercept(_ request: ImageRequest, next: @escaping Next) async throws -> ImageResponse {
///             do {
///                 return try await next(request)
///             } catch let error as ImagePipelineError where error.code == "damagedImage" {
///                 var again = request
///                 again.cachePolicy = .reload
///                 return try await next(again)
///             }
///         }
///     }
///
/// The first of `ImagePipeline.Configuration.interceptors` is the outermost. It is called once for each load of an image, around
/// the caches, the transfer, the decode and the processors: by `image(for:)`, `response(for:)`, `events(for:)`, `task(for:)`,
/// `load`, views, and a prefetch into memory. Loads that are passed on with equal requests share their work as ever. An image
/// in memory is not there at once then, since the interceptors come first: a view shows it a moment later.
///
/// Interceptors are not called where no image is loaded: by `data(for:)`, `encodedImage(for:as:)` and a prefetch to the disk, by
/// a revalidation in the background, and by synchronous look-ups such as `ImageCache.image(inMemoryFor:)`, also those by which
/// a view finds an image to stand in. `ImagePipeline.Configuration.requestModifier` changes the requests of all of these.
public protocol ImageInterceptor: Sendable {
    /// The rest of the chain: the next interceptor, and finally the load. It may be called never, once, or several times, also
    /// at the same time, until the interceptor has returned; afterwards it throws `CancellationError`.
    ///
    /// Each load has the priority of the task, whatever the request says, and ends with it. Progress and previews of all of them
    /// are those of the task. Its errors are `ImagePipelineError` and `CancellationError`.
    typealias Next = @Sendable (ImageRequest) async throws -> ImageResponse

    /// Handles a load: passes the request on with `next`, or returns a response or throws an error of its own.
    ///
    /// A changed request is loaded and cached as if the caller had made it, also if it names another source, to which its header
    /// fields and its credential go then. The caches keep what `next` has loaded, never what an interceptor makes of it.
    ///
    /// A load that is cancelled ends at once, even if the interceptor does not react; its task is cancelled then.
    ///
    /// - Parameters:
    ///   - request: the request as the pipeline's `defaults`, `requestModifier` and `providers`, or the interceptor before, have
    ///     made it.
    ///   - next: the rest of the chain.
    /// - Throws: any error, which ends the load: those of `next` unchanged, any other as `ImagePipelineError.intercepted` with the
    ///   error itself.
    func intercept(_ request: ImageRequest, next: @escaping Next) async throws -> ImageResponse
}
