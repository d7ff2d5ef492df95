/// Tells the raw files of cameras from TIFF, whose structure most of them have.
enum RawSignature {
    /// The tag of the camera's maker, that of a DNG's version, that of directories inside of one, and that of the colours.
    private static let (makeTag, versionTag, partsTag, photometricTag) = (271, 50_706, 330, 262)
    /// The maximum number of directories inside of the first one that are examined.
    private static let maximumParts = 16

    /// Returns whether the bytes begin like a raw file that is no ISO media file.
    ///
    /// One that has the signature of a TIFF is a raw file if Canon's mark stands behind it, if its first directory has a
    /// version of DNG or describes the values of a sensor, or if that has a camera's maker and a directory inside of it
    /// describes such values.
    static func matches(_ reader: ByteReader) -> Bool {
        // Olympus, Panasonic, Fujifilm.
        if reader.matches("IIRO", at: 0) || reader.matches("IIRS", at: 0) || reader.matches("MMOR", at: 0) {
            return true
        }
        if reader.matches([0x49, 0x49, 0x55, 0], at: 0) || reader.matches("FUJIFILMCCD-RAW ", at: 0) { return true }
        guard let first = ExifDirectory.first(of: reader) else { return false }
        if reader.matches([0x43, 0x52, 2, 0], at: 8) || first.value(of: versionTag) != nil || isSensor(first) {
            return true
        }
        guard first.place(of: makeTag) != nil else { return false }
        return first.values(of: partsTag, atMost: maximumParts).contains {
            isSensor(ExifDirectory(in: reader, isLittleEndian: first.isLittleEndian, at: $0))
        }
    }

    /// Returns whether a directory describes values of a sensor: a mosaic of colours, or linear ones.
    private static func isSensor(_ directory: ExifDirectory) -> Bool {
        [32_803, 34_892].contains(directory.value(of: photometricTag))
    }
}
