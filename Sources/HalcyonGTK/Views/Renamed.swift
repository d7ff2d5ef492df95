// Names of Kingfisher's, SDWebImage's and Nuke's views, for which the compiler offers those of this library. None can be used,
// so none is part of the public surface.

import Foundation
import Halcyon

@available(*, unavailable, renamed: "ImageView")
public typealias KFImage = ImageView
@available(*, unavailable, renamed: "ImageView")
public typealias LazyImage = ImageView
@available(*, unavailable, renamed: "AnimatedImageView")
public typealias SDAnimatedImageView = AnimatedImageView

extension ImageLayer {
    @available(*, unavailable, message: "a view has the methods itself: view.setImage(from: url)")
    public var kf: ImageLayer { self }

    @available(*, unavailable, renamed: "setImage(from:)")
    public func setImage(with url: URL?) { setImage(from: url) }

    @available(*, unavailable, renamed: "setImage(from:placeholder:)")
    public func setImage(with url: URL?, placeholder: ImageTarget.Placeholder?) {
        setImage(from: url, placeholder: placeholder)
    }

    @available(*, unavailable, renamed: "setImage(from:)")
    public func sd_setImage(with url: URL?) { setImage(from: url) }

    @available(*, unavailable, renamed: "setImage(from:placeholder:)")
    public func sd_setImage(with url: URL?, placeholderImage: ImageTarget.Placeholder?) {
        setImage(from: url, placeholder: placeholderImage)
    }

    @available(*, unavailable, renamed: "cancel()")
    public func sd_cancelCurrentImageLoad() { cancel() }

    @available(*, unavailable, renamed: "cancel()")
    public func cancelDownloadTask() { cancel() }
}
