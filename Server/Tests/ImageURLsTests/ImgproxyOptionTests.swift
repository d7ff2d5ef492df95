import ImageURLs
import Testing

/// Each option by each of its names, against the job that the table of the documentation asks for.
@Suite struct ImgproxyOptionTests {
    private typealias Row = (names: [String], arguments: String, change: (inout ImageJob) -> Void)

    private func check(_ rows: [Row]) throws {
        for row in rows {
            for name in row.names {
                let option = "\(name):\(row.arguments)"
                let result = Result { try imgproxy(option) }
                #expect((try? result.get()) == job(row.change), "\(option): \(result)")
            }
        }
    }

    @Test func sizes() throws {
        try check([
            (
                ["resize", "rs"], "fill:300:400:1:1",
                {
                    $0.resize.mode = .fill
                    ($0.resize.width, $0.resize.height) = (.pixels(300), .pixels(400))
                    ($0.resize.enlarge, $0.extend) = (true, .center)
                }
            ),
            (["resize", "rs"], "::400", { $0.resize.height = .pixels(400) }),
            (["resize", "rs"], "fit:0:400", { ($0.resize.width, $0.resize.height) = (.follows, .pixels(400)) }),
            (
                ["resize", "rs"], "auto:1:2:::",
                {
                    ($0.resize.mode, $0.resize.width, $0.resize.height) = (.auto, .pixels(1), .pixels(2))
                }
            ),
            (
                ["resize", "rs"], "force:1:2:0:1:nowe:3:0.5",
                {
                    ($0.resize.mode, $0.resize.width, $0.resize.height) = (.force, .pixels(1), .pixels(2))
                    $0.extend = .compass(.topLeft, x: .pixels(3), y: .fraction(0.5))
                }
            ),
            (
                ["size", "s"], "300:400:t:true",
                {
                    ($0.resize.width, $0.resize.height) = (.pixels(300), .pixels(400))
                    ($0.resize.enlarge, $0.extend) = (true, .center)
                }
            ),
            (["size", "s"], ":400", { $0.resize.height = .pixels(400) }),
            (["resizing_type", "rt"], "fill-down", { $0.resize.mode = .fillDown }),
            (["width", "w"], "100000", { $0.resize.width = .pixels(100_000) }),
            (["height", "h"], "7", { $0.resize.height = .pixels(7) }),
            (["min-width", "mw"], "7", { $0.resize.minWidth = 7 }),
            (["min-height", "mh"], "7", { $0.resize.minHeight = 7 }),
            (["zoom", "z"], "1.5", { ($0.resize.zoomX, $0.resize.zoomY) = (1.5, 1.5) }),
            (["zoom", "z"], "0.5:2", { ($0.resize.zoomX, $0.resize.zoomY) = (0.5, 2) }),
            (["dpr"], "2", { $0.resize.dpr = 2 }),
            (["enlarge", "el"], "1", { $0.resize.enlarge = true }),
        ])
    }

    @Test func geometry() throws {
        try check([
            (["extend", "ex"], "1", { $0.extend = .center }),
            (["extend", "ex"], "1:so:0:7", { $0.extend = .compass(.bottom, y: .pixels(7)) }),
            (["extend", "ex"], "0:so", { _ in }),
            (
                ["extend_aspect_ratio", "extend_ar", "exar"], "true:fp:0.2:0.3",
                {
                    $0.extendAspectRatio = .focus(x: 0.2, y: 0.3)
                }
            ),
            (["gravity", "g"], "sm", { $0.gravity = .smart }),
            (["gravity", "g"], "fp:0:1", { $0.gravity = .focus(x: 0, y: 1) }),
            (["gravity", "g"], "no:-10:0.25", { $0.gravity = .compass(.top, x: .pixels(-10), y: .fraction(0.25)) }),
            (["gravity", "g"], "ea:1:-0.5", { $0.gravity = .compass(.right, x: .pixels(1), y: .fraction(-0.5)) }),
            (["crop", "c"], "100:0.5", { $0.crop = .area(width: .pixels(100), height: .fraction(0.5)) }),
            (
                ["crop", "c"], "0:100:sm",
                {
                    $0.crop = .area(width: .fraction(1), height: .pixels(100), gravity: .smart)
                }
            ),
            (
                ["crop", "c"], "1:2:soea:3:4",
                {
                    let gravity = ImageJob.Gravity.compass(.bottomRight, x: .pixels(3), y: .pixels(4))
                    $0.crop = .area(width: .pixels(1), height: .pixels(2), gravity: gravity)
                }
            ),
            (["crop", "c"], "0:0", { _ in }),
            (["trim", "t"], "10", { $0.trim = .init(tolerance: .channel(10)) }),
            (
                ["trim", "t"], "0:fff:1:t",
                {
                    let white = ImageJob.Color(red: 255, green: 255, blue: 255)
                    $0.trim = .init(border: .color(white), equalHorizontally: true, equalVertically: true)
                }
            ),
            (["trim", "t"], ":FF00FF", { _ in }),
            (["padding", "pd"], "10", { $0.padding = .init(top: 10, right: 10, bottom: 10, left: 10) }),
            (["padding", "pd"], "10:20", { $0.padding = .init(top: 10, right: 20, bottom: 10, left: 20) }),
            (["padding", "pd"], "10:20:30", { $0.padding = .init(top: 10, right: 20, bottom: 30, left: 20) }),
            (["padding", "pd"], "1:2:3:4", { $0.padding = .init(top: 1, right: 2, bottom: 3, left: 4) }),
            (["padding", "pd"], ":5", { $0.padding = .init(right: 5, left: 5) }),
            (["auto_rotate", "ar"], "0", { $0.autoRotate = false }),
            (["rotate", "rot"], "90", { $0.quarterTurns = 1 }),
            (["rotate", "rot"], "-90", { $0.quarterTurns = 3 }),
            (["rotate", "rot"], "720", { _ in }),
            (["flip", "fl"], "1", { $0.flip.horizontal = true }),
            (["flip", "fl"], ":1", { $0.flip.vertical = true }),
        ])
    }

    @Test func drawing() throws {
        try check([
            (["background", "bg"], "ff8000", { $0.background = .init(red: 255, green: 128, blue: 0) }),
            (["background", "bg"], "F80", { $0.background = .init(red: 255, green: 136, blue: 0) }),
            (["background", "bg"], "1:20:255", { $0.background = .init(red: 1, green: 20, blue: 255) }),
            (["background", "bg"], "", { _ in }),
            (["blur", "bl"], "0.5", { $0.effects = [.blur(sigma: 0.5)] }),
            (["blur", "bl"], "0", { _ in }),
            (["sharpen", "sh"], "1", { $0.effects = [.sharpen(sigma: 1)] }),
            (["pixelate", "pix"], "8", { $0.effects = [.pixelate(side: 8)] }),
            (["watermark", "wm"], "0.5", { $0.watermark = .init(opacity: 0.5) }),
            (
                ["watermark", "wm"], "1:soea:-10:0.1:0.3",
                {
                    let position = ImageJob.Watermark.Position.compass(.bottomRight, x: .pixels(-10), y: .fraction(0.1))
                    $0.watermark = .init(position: position, size: .scale(0.3))
                }
            ),
            (
                ["watermark", "wm"], "1:re:10:20",
                {
                    $0.watermark = .init(position: .tiled(x: .pixels(10), y: .pixels(20)))
                }
            ),
            (["watermark", "wm"], "0:ce", { _ in }),
        ])
    }

    @Test func encodingAndAnswer() throws {
        try check([
            (["strip_metadata", "sm"], "0", { $0.metadata.strip = false }),
            (["keep_copyright", "kcr"], "f", { $0.metadata.keepCopyright = false }),
            (["strip_color_profile", "scp"], "false", { $0.metadata.stripProfile = false }),
            (["enforce_thumbnail", "eth"], "1", { $0.enforceThumbnail = true }),
            (["quality", "q"], "80", { $0.output.quality = 80 }),
            (["quality", "q"], "0", { _ in }),
            (["format_quality", "fq"], "jpg:70:avif:50", { $0.output.formatQuality = [.jpeg: 70, .avif: 50] }),
            (["autoquality", "aq"], "ssim:85", { $0.output.target = .init(score: 85) }),
            (["autoquality", "aq"], "ssim:80.5:40:90:0.25", { $0.output.target = Self.boundedTarget }),
            (["autoquality", "aq"], "none", { _ in }), (["autoquality", "aq"], ":80", { _ in }),
            (["max_bytes", "mb"], "20000", { $0.output.maxBytes = 20_000 }),
            (["format", "f", "ext"], "jpg", { $0.output.format = .jpeg }),
            (["format", "f", "ext"], "best", { $0.output.isSmallest = true }),
            (["format", "f", "ext"], "jxl", { $0.output.format = .jxl }),
            (["skip_processing", "skp"], "gif:svg", { $0.skipProcessing = [.gif, .svg] }),
            (["raw"], "1", { $0.raw = true }),
            (["cachebuster", "cb"], "abc", { $0.cachebuster = "abc" }),
            (["expires", "exp"], "1893456000", { $0.expires = 1_893_456_000 }),
            (["filename", "fn"], "my%20cat.jpg", { $0.filename = "my cat.jpg" }),
            (["filename", "fn"], "w6RiYw:1", { $0.filename = "äbc" }),
            (["filename", "fn"], "w6RiYw==:t", { $0.filename = "äbc" }),
            (["return_attachment", "att"], "1", { $0.attachment = true }),
        ])
    }

    private static var boundedTarget: ImageJob.QualityTarget {
        var target = ImageJob.QualityTarget(score: 80.5)
        (target.minQuality, target.maxQuality, target.allowedError) = (40, 90, 0.25)
        return target
    }

    @Test func limitsNeedPermission() throws {
        var configuration = ImgproxyURL.Configuration()
        let rows: [Row] = [
            (["max_src_resolution", "msr"], "1.5", { $0.limits.maxPixels = 1_500_000 }),
            (["max_src_file_size", "msfs"], "1000", { $0.limits.maxBytes = 1000 }),
            (["max_animation_frames", "maf"], "8", { $0.limits.maxFrames = 8 }),
            (["max_animation_frame_resolution", "mafr"], "2", { $0.limits.maxFramePixels = 2_000_000 }),
            (["max_result_dimension", "mrd"], "500", { $0.limits.maxResultSide = 500 }),
        ]
        for row in rows {
            for name in row.names {
                let option = "\(name):\(row.arguments)"
                configuration.allowsLimits = false
                #expect(failure { try imgproxy(option, configuration) } == .forbidden(name))
                configuration.allowsLimits = true
                #expect(try imgproxy(option, configuration) == job(row.change))
            }
        }
    }

    /// Every name of the documentation's table, without an argument, is an option and changes nothing.
    @Test func emptyArgumentsKeepDefaults() throws {
        let names = """
            resize rs size s resizing_type rt width w height h min-width mw min-height mh zoom z dpr enlarge el extend ex
            extend_aspect_ratio extend_ar exar gravity g crop c trim t padding pd auto_rotate ar rotate rot flip fl
            background bg blur bl sharpen sh pixelate pix watermark wm strip_metadata sm keep_copyright kcr
            strip_color_profile scp enforce_thumbnail eth quality q format_quality fq autoquality aq max_bytes mb format f ext
            skip_processing skp raw cachebuster cb expires exp filename fn return_attachment att preset pr
            max_src_resolution msr max_src_file_size msfs max_animation_frames maf max_animation_frame_resolution mafr
            max_result_dimension mrd
            """.split { $0.isWhitespace }
        #expect(names.count == 90)
        var configuration = ImgproxyURL.Configuration()
        configuration.allowsLimits = true
        for name in names where name != "watermark" && name != "wm" {
            let result = Result { try imgproxy("\(name):", configuration) }
            #expect((try? result.get()) == job(), "\(name): \(result)")
        }
        // A watermark without an opacity has all of it.
        #expect(try imgproxy("wm:") == job { $0.watermark = .init() })
    }

    @Test func paidOptionsAreRefusedByName() {
        let names = """
            resizing_algorithm ra objects_position obj_pos op crop_aspect_ratio crop_ar car background_alpha bga adjust a
            brightness br contrast co saturation sa monochrome mc duotone dt unsharp_masking ush blur_detections bd
            draw_detections dd colorize col gradient gr watermark_url wmu watermark_text wmt watermark_size wms
            watermark_rotate wm_rot wmr watermark_shadow wmsh style st dpi jpeg_options jpgo png_options
            pngo webp_options webpo page pg pages pgs disable_animation da video_thumbnail_second vts
            video_thumbnail_keyframes vtk video_thumbnail_tile vtt video_thumbnail_animation vta fallback_image_url fiu
            hashsum hs nonsense W Resize
            """.split { $0.isWhitespace }
        for name in names {
            #expect(failure { try imgproxy("\(name):1") } == .unsupported(String(name)))
        }
        for (option, name) in [
            ("g:obj:face", "g:obj"), ("c:1:1:objw:face:2", "c:objw"), ("wm:1:ch", "wm:ch"),
            ("f:mp4", "f:mp4"), ("aq:dssim:0.02:70:80", "aq:dssim"), ("aq:ml", "aq:ml"), ("aq:size:1000", "aq:size"),
            ("fq:pdf:3", "fq:pdf"), ("skp:mp4", "skp:mp4"), ("-/w:1", "-"),
        ] {
            #expect(failure { try imgproxy(option) } == .unsupported(name), "\(option)")
        }
        #expect(ImageURLError.unsupported("page").status == 422)
    }

    @Test func argumentsThatAreNotValid() {
        let rows = """
            w:-1 w:1.5 w:a w:100001 w:99999999999999999999 w:1:2 w:+ w:1e3 w:٣ w:0x10 h:nan mw:-1 mh:inf
            rs:cover rs:Fit rs:fit:1:2:yes rs:fit:1:2:1:1:ce:0:0:0 s:1:2:1:1:ce:0:0:1 rt:fit:1 z:0 z:0.0001 z:-1 z:101 z:1:0
            z:1:1:1 z:inf z:nan dpr:0 dpr:17 dpr:1e1 dpr:0x2 dpr:1:1 el:2 el:on el:TrUe ex:1:sm ex:1:ce:1:2:3 exar:1:sm
            g:nx g:sm:1 g:fp g:fp:1 g:fp:0.5:1.1 g:fp:-0.1:0 g:fp:0:0:0 g:no:1:2:3 g:no:nan g:no:inf g:no:100001 g::1
            c:-1 c:1:-1 c:100001 c:nan:1 c:1:1:xx c:1:1:ce:0:0:0 t:-1 t:256 t:nan t:1:12345 t:1:gggggg t:1:fff:2 t:1:fff:1:1:1
            pd:-1 pd:1:2:3:4:5 pd:1.5 pd:100001 ar:2 rot:45 rot:1.5 rot:99999999 fl:2 fl:1:1:1 bg:12 bg:gggggg bg:1:2
            bg:1:2:256 bg:1:2:3:4 bg:-1:2:3 bl:-1 bl:501 bl:nan bl:1:1 sh:-1 sh:inf pix:-1 pix:1.5 wm:2 wm:-0.1 wm:1:xx
            wm:1:ce:nan wm:1:ce:1:inf wm:1:ce:1:1:-1 wm:1:ce:1:1:1:1 wm:1:sm sm:2 kcr:- scp:x eth:2 q:101 q:-1 q:1.5 q:1:1
            fq:jpg fq:jpg:101 fq::3 fq:jpg:3:png aq:1 aq:SSIM:80 aq:ssim aq:ssim:101 aq:ssim:-1 aq:ssim:nan aq:ssim:80:-1 aq:ssim:80:50:49
            aq:ssim:80:0:101 aq:ssim:80:1.5 aq:ssim:80:0:100:-1 aq:ssim:80:0:100:101 aq:ssim:80:0:100:1:1 mb:-1 mb:4294967296 f:png:1 raw:2 cb:a:b exp:x exp:1.5 exp:99999999999999999999
            fn:a%2Fb fn:%zz fn:%00 fn:a:2 fn:!!:1 fn:a:1:1 att:2 pr:none msr:1:1
            """.split { $0.isWhitespace }
        var configuration = ImgproxyURL.Configuration()
        configuration.allowsLimits = true
        for option in rows {
            let error = failure { try imgproxy(String(option), configuration) }
            guard case .invalid(let name, _, let reason)? = error else {
                Issue.record("\(option): \(String(describing: error))")
                continue
            }
            #expect(!reason.isEmpty)
            #expect(option.hasPrefix(name) || name == "preset", "\(option): \(name)")
            #expect(error?.status == 422)
        }
    }
}
