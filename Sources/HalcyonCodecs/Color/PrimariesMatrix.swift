/// A matrix of three rows and columns.
struct Matrix3 {
    var rows: [[Double]]

    static func diagonal(_ values: [Double]) -> Matrix3 {
        Matrix3(rows: (0..<3).map { row in (0..<3).map { $0 == row ? values[row] : 0 } })
    }

    static func * (left: Matrix3, right: [Double]) -> [Double] {
        left.rows.map { row in zip(row, right).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        let columns = (0..<3).map { column in left * right.rows.map { $0[column] } }
        return Matrix3(rows: (0..<3).map { row in columns.map { $0[row] } })
    }

    /// The numbers row by row, as C takes them.
    var tuple: (Double, Double, Double, Double, Double, Double, Double, Double, Double) {
        let n = Array(rows.joined())
        return (n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8])
    }

    /// The inverse by cofactors; without finite numbers if there is none.
    var inverse: Matrix3 {
        func cofactor(_ row: Int, _ column: Int) -> Double {
            let (r1, r2) = ((row + 1) % 3, (row + 2) % 3)
            let (c1, c2) = ((column + 1) % 3, (column + 2) % 3)
            return rows[r1][c1] * rows[r2][c2] - rows[r1][c2] * rows[r2][c1]
        }
        let determinant = (0..<3).reduce(0) { $0 + rows[0][$1] * cofactor(0, $1) }
        return Matrix3(rows: (0..<3).map { row in (0..<3).map { cofactor($0, row) / determinant } })
    }
}

extension ColorPrimaries {
    /// The matrix from red, green and blue to CIE XYZ, of which white has a Y of 1 (SMPTE RP 177).
    var xyz: Matrix3 {
        let points = [red, green, blue].map(Self.xyz)
        let unscaled = Matrix3(rows: (0..<3).map { row in points.map { $0[row] } })
        return unscaled * .diagonal(unscaled.inverse * Self.xyz(white))
    }

    private static func xyz(_ point: Point) -> [Double] { [point.x / point.y, 1, (1 - point.x - point.y) / point.y] }

    /// Returns the matrix of linear light from these primaries to others; the white of one becomes that of the other by the Bradford
    /// transform, as between ICC profiles. Nil if there is none.
    func matrix(to other: ColorPrimaries) -> Matrix3? {
        let bradford = Matrix3(rows: [
            [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
        ])
        let (from, into) = (bradford * Self.xyz(white), bradford * Self.xyz(other.white))
        let adaptation = bradford.inverse * .diagonal(zip(into, from).map { $0 / $1 }) * bradford
        let matrix = other.xyz.inverse * adaptation * xyz
        return matrix.rows.joined().allSatisfy { abs($0) < 1_000 } ? matrix : nil
    }
}
