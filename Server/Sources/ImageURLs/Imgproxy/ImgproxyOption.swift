/// An option of imgproxy's free edition, or one of its paid edition that has a part here.
enum ImgproxyOption: Sendable, Hashable {
    case resize, size, resizingType, width, height, minWidth, minHeight, zoom, dpr, enlarge, extend, extendAspectRatio
    case gravity, crop, trim, padding, autoRotate, rotate, flip, background, blur, sharpen, pixelate, watermark
    case stripMetadata, keepCopyright, stripColorProfile, enforceThumbnail
    case quality, formatQuality, autoquality, maxBytes, format
    case skipProcessing, raw, cachebuster, expires, filename, returnAttachment, preset
    case maxSourceResolution, maxSourceFileSize, maxAnimationFrames, maxAnimationFrameResolution, maxResultDimension

    /// All names of all options.
    static let named: [String: ImgproxyOption] = [
        "resize": .resize, "rs": .resize, "size": .size, "s": .size, "resizing_type": .resizingType,
        "rt": .resizingType,
        "width": .width, "w": .width, "height": .height, "h": .height, "min-width": .minWidth, "mw": .minWidth,
        "min-height": .minHeight, "mh": .minHeight, "zoom": .zoom, "z": .zoom, "dpr": .dpr, "enlarge": .enlarge,
        "el": .enlarge, "extend": .extend, "ex": .extend, "extend_aspect_ratio": .extendAspectRatio,
        "extend_ar": .extendAspectRatio, "exar": .extendAspectRatio, "gravity": .gravity, "g": .gravity, "crop": .crop,
        "c": .crop, "trim": .trim, "t": .trim, "padding": .padding, "pd": .padding, "auto_rotate": .autoRotate,
        "ar": .autoRotate, "rotate": .rotate, "rot": .rotate, "flip": .flip, "fl": .flip, "background": .background,
        "bg": .background, "blur": .blur, "bl": .blur, "sharpen": .sharpen, "sh": .sharpen, "pixelate": .pixelate,
        "pix": .pixelate, "watermark": .watermark, "wm": .watermark, "strip_metadata": .stripMetadata,
        "sm": .stripMetadata, "keep_copyright": .keepCopyright, "kcr": .keepCopyright,
        "strip_color_profile": .stripColorProfile, "scp": .stripColorProfile, "enforce_thumbnail": .enforceThumbnail,
        "eth": .enforceThumbnail, "quality": .quality, "q": .quality, "format_quality": .formatQuality,
        "fq": .formatQuality, "autoquality": .autoquality, "aq": .autoquality, "max_bytes": .maxBytes, "mb": .maxBytes,
        "format": .format, "f": .format, "ext": .format,
        "skip_processing": .skipProcessing, "skp": .skipProcessing, "raw": .raw, "cachebuster": .cachebuster,
        "cb": .cachebuster, "expires": .expires, "exp": .expires, "filename": .filename, "fn": .filename,
        "return_attachment": .returnAttachment, "att": .returnAttachment, "preset": .preset, "pr": .preset,
        "max_src_resolution": .maxSourceResolution, "msr": .maxSourceResolution,
        "max_src_file_size": .maxSourceFileSize, "msfs": .maxSourceFileSize,
        "max_animation_frames": .maxAnimationFrames, "maf": .maxAnimationFrames,
        "max_animation_frame_resolution": .maxAnimationFrameResolution, "mafr": .maxAnimationFrameResolution,
        "max_result_dimension": .maxResultDimension, "mrd": .maxResultDimension,
    ]
}
