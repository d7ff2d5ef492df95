import CDE265
import CHEIF
import Foundation

/// A picture that libde265 has decoded.
struct HEVCPicture {
    private let picture: OpaquePointer

    init(_ picture: OpaquePointer) { self.picture = picture }

    /// Makes an image of libheif of the picture.
    func copy(to result: inout OpaquePointer?) -> heif_error {
        let bits = (0..<channels.count).map { de265_get_bits_per_pixel(picture, Int32($0)) }
        guard bits.allSatisfy({ $0 == bits[0] }) else {
            return HEVCDecoder.damaged("its brightness and colour differ in depth")
        }
        var image: OpaquePointer?
        let colorSpace = chroma == heif_chroma_monochrome ? heif_colorspace_monochrome : heif_colorspace_YCbCr
        let made = heif_image_create(
            de265_get_image_width(picture, 0), de265_get_image_height(picture, 0), colorSpace, chroma, &image)
        guard made.code == heif_error_Ok, let image else { return made }
        for (index, channel) in channels.enumerated() {
            let error = copy(Int32(index), to: channel, of: image, bits: bits[index])
            guard error.code == heif_error_Ok else {
                heif_image_release(image)
                return error
            }
        }
        setColors(of: image)
        result = image
        return HEVCDecoder.success
    }

    private var chroma: heif_chroma {
        switch de265_get_chroma_format(picture) {
        case de265_chroma_420: heif_chroma_420
        case de265_chroma_422: heif_chroma_422
        case de265_chroma_444: heif_chroma_444
        default: heif_chroma_monochrome
        }
    }

    private var channels: [heif_channel] {
        chroma == heif_chroma_monochrome
            ? [heif_channel_Y] : [heif_channel_Y, heif_channel_Cb, heif_channel_Cr]
    }

    private func copy(_ index: Int32, to channel: heif_channel, of image: OpaquePointer, bits: Int32) -> heif_error {
        let (width, height) = (de265_get_image_width(picture, index), de265_get_image_height(picture, index))
        let error = heif_image_add_plane(image, channel, width, height, bits)
        guard error.code == heif_error_Ok else { return error }
        var (sourceStride, targetStride) = (Int32(0), Int32(0))
        guard let source = de265_get_image_plane(picture, index, &sourceStride),
            let target = heif_image_get_plane(image, channel, &targetStride)
        else { return HEVCDecoder.damaged("it has no pixels") }
        for y in 0..<Int(height) {
            memcpy(target + y * Int(targetStride), source + y * Int(sourceStride), Int(width) * (bits > 8 ? 2 : 1))
        }
        return HEVCDecoder.success
    }

    /// Tells how the channels make colours. Values that libheif does not know are those that nothing is said about.
    private func setColors(of image: OpaquePointer) {
        guard let colors = heif_nclx_color_profile_alloc() else { return }
        defer { heif_nclx_color_profile_free(colors) }
        _ = heif_nclx_color_profile_set_color_primaries(
            colors, UInt16(clamping: de265_get_image_colour_primaries(picture)))
        _ = heif_nclx_color_profile_set_transfer_characteristics(
            colors, UInt16(clamping: de265_get_image_transfer_characteristics(picture)))
        _ = heif_nclx_color_profile_set_matrix_coefficients(
            colors, UInt16(clamping: de265_get_image_matrix_coefficients(picture)))
        colors.pointee.full_range_flag = UInt8(clamping: de265_get_image_full_range_flag(picture))
        _ = heif_image_set_nclx_color_profile(image, colors)
    }
}
