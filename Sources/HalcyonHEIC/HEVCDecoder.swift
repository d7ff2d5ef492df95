import CDE265
import CHEIF
import Foundation

/// A decoder of H.265 for libheif by libde265, more careful than libheif's own use of the library.
///
/// A picture with errors, or one that its slices do not cover, is refused instead of shown with the former content of
/// memory. Decoding stays on the calling thread.
final class HEVCDecoder {
    private let decoder: UnsafeMutableRawPointer
    private let planes = HEVCPlanes()

    /// The name by which decoding options choose the decoder.
    static let name: StaticString = "halcyon-libde265"

    /// Whether libheif has the decoder. It is registered on the first use, and never removed.
    static let isRegistered: Bool = {
        // Without this, another user of the library who ends it would remove the decoder.
        guard heif_init(nil).code == heif_error_Ok else { return false }
        let plugin = UnsafeMutablePointer<heif_decoder_plugin>.allocate(capacity: 1)
        plugin.initialize(to: makePlugin())
        return heif_register_decoder_plugin(plugin).code == heif_error_Ok
    }()

    private static func makePlugin() -> heif_decoder_plugin {
        heif_decoder_plugin(
            plugin_api_version: 3,
            get_plugin_name: { HEVCDecoder.name.text },
            init_plugin: nil,
            deinit_plugin: nil,
            // Less than libheif's own: other users of the library in this process keep what they have.
            does_support_format: { $0 == heif_compression_HEVC ? 1 : 0 },
            new_decoder: { place in
                guard let decoder = HEVCDecoder() else { return HEVCDecoder.noMemory }
                place?.pointee = Unmanaged.passRetained(decoder).toOpaque()
                return HEVCDecoder.success
            },
            free_decoder: { decoder in
                guard let decoder else { return }
                Unmanaged<HEVCDecoder>.fromOpaque(decoder).release()
            },
            push_data: { decoder, data, count in
                guard let decoder = HEVCDecoder.at(decoder), let data else { return HEVCDecoder.damaged("no data") }
                return decoder.add(UnsafeRawBufferPointer(start: data, count: count))
            },
            decode_image: { decoder, image in
                guard let decoder = HEVCDecoder.at(decoder), let image else { return HEVCDecoder.damaged("no data") }
                return decoder.decode(to: &image.pointee)
            },
            set_strict_decoding: { _, _ in },
            id_name: name.text)
    }

    private static func at(_ decoder: UnsafeMutableRawPointer?) -> HEVCDecoder? {
        decoder.map { Unmanaged<HEVCDecoder>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Decoding

    private init?() {
        guard let decoder = de265_new_decoder() else { return nil }
        self.decoder = decoder
        planes.serve(decoder)
        de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1)
    }

    deinit { de265_free_decoder(decoder) }

    /// Adds NAL units, each preceded by its length in four bytes.
    private func add(_ data: UnsafeRawBufferPointer) -> heif_error {
        var data = data[...]
        while !data.isEmpty {
            guard data.count >= 4 else { return Self.damaged("its H.265 data ends within a length") }
            let length = data.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            data = data.dropFirst(4)
            guard length <= data.count else { return Self.damaged("its H.265 data is cut off") }
            let unit = UnsafeRawBufferPointer(rebasing: data.prefix(length))
            let result = de265_push_NAL(decoder, unit.baseAddress, Int32(clamping: length), 0, nil)
            guard result == DE265_OK else { return Self.error(result) }
            data = data.dropFirst(length)
        }
        return Self.success
    }

    /// Decodes the first picture.
    private func decode(to image: inout OpaquePointer?) -> heif_error {
        var result = de265_flush_data(decoder)
        var (picture, hasMore) = (OpaquePointer?.none, Int32(1))
        while result == DE265_OK, hasMore != 0, picture == nil {
            result = de265_decode(decoder, &hasMore)
            picture = de265_get_next_picture(decoder)
        }
        guard result == DE265_OK else { return Self.error(result) }
        if let warning = firstWarning() { return Self.error(warning) }
        guard let picture else { return Self.damaged("its H.265 data has errors") }
        guard planes.isWritten(picture) else { return Self.damaged("its H.265 data leaves parts of the picture out") }
        return HEVCPicture(picture).copy(to: &image)
    }

    /// Returns the first warning that tells of a damaged picture. libde265 adds those that it finds to a list.
    private func firstWarning() -> de265_error? {
        while true {
            let warning = de265_get_warning(decoder)
            switch warning {
            case DE265_OK: return nil
            // They tell of threads, and of notes that say nothing about the picture.
            case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING, DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM,
                DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI:
                continue
            default: return warning
            }
        }
    }

    // MARK: Errors

    static var success: heif_error {
        heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: StaticString("Success").text)
    }

    static var noMemory: heif_error {
        heif_error(
            code: heif_error_Memory_allocation_error, subcode: heif_suberror_Unspecified,
            message: StaticString("no memory").text)
    }

    static func damaged(_ reason: StaticString) -> heif_error {
        heif_error(
            code: heif_error_Decoder_plugin_error, subcode: heif_suberror_Unspecified, message: reason.text)
    }

    private static func error(_ error: de265_error) -> heif_error {
        if error == DE265_ERROR_OUT_OF_MEMORY { return noMemory }
        return heif_error(
            code: heif_error_Decoder_plugin_error, subcode: heif_suberror_Unspecified,
            message: de265_get_error_text(error))
    }
}

extension StaticString {
    /// The text as C reads it.
    var text: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
