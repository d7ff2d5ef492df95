import Foundation
import Glibc

/// A parser of HTTP dates, in the current form and the two obsolete ones.
///
/// It does not use a Foundation formatter, as a header is read for every response and each cache hit.
package enum HTTPDate {
    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///
    /// - Parameter now: A two-digit year that would be more than fifty years after it is in the century before.
    /// - Returns: Nil for anything else, including "0" and "-1".
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        if let date = current(text) { return date }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" })
        switch words.count {
        case 6:
            guard words[0].hasSuffix(","), words[5].uppercased() == "GMT" || words[5] == "UTC" else { return nil }
            return date(day: words[1], month: words[2], year: number(words[3], digits: 4), time: words[4])
        case 4:
            let day = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard words[0].hasSuffix(","), day.count == 3, words[3].uppercased() == "GMT" else { return nil }
            return date(day: day[0], month: day[1], year: fullYear(day[2], now: now), time: words[2])
        case 5:
            return date(day: words[2], month: words[1], year: number(words[4], digits: 4), time: words[3])
        default:
            return nil
        }
    }

    /// Parses the current form, which nearly all dates have, without splitting the text: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func current(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), bytes[26...].elementsEqual("GMT".utf8),
                bytes[..<3].allSatisfy({ $0 > 0x20 }),
                [4, 7, 11, 16, 25].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
                bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":"),
                let month = months.firstIndex(where: { bytes[8..<11].elementsEqual($0.utf8) })
            else { return nil }
            func number(_ range: Range<Int>) -> Int? {
                range.reduce(0) { sum, index in
                    let digit = Int(bytes[index]) - 0x30
                    return sum.flatMap { (0...9).contains(digit) ? $0 * 10 + digit : nil }
                }
            }
            guard let day = number(5..<7), let year = number(12..<16), let hour = number(17..<19),
                let minute = number(20..<22), let second = number(23..<25)
            else { return nil }
            return date(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
        }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func date(day: Substring, month: Substring, year: Int?, time: Substring) -> Date? {
        guard let year, let day = number(day, digits: nil),
            let month = months.firstIndex(where: { $0.lowercased() == month.lowercased() })
        else { return nil }
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2] else { return nil }
        return date(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static func date(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Date? {
        // A leap second is written as 60 and counts as the first second of the next minute.
        guard (1...31).contains(day), hour < 24, minute < 60, second <= 60 else { return nil }
        let seconds = days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    private static func number(_ text: Substring, digits: Int?) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 4, digits.map({ text.utf8.count == $0 }) ?? true,
            text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return nil }
        return Int(text)
    }

    private static func fullYear(_ text: Substring, now: Date) -> Int? {
        guard let short = number(text, digits: 2) else { return number(text, digits: 4) }
        var (seconds, parts) = (time_t(now.timeIntervalSince1970), tm())
        gmtime_r(&seconds, &parts)
        let current = Int(parts.tm_year) + 1900
        let year = current - current % 100 + short
        return year > current + 50 ? year - 100 : year
    }

    /// Returns the number of days since 1970-01-01 in the Gregorian calendar, computed in eras of 400 years that begin
    /// in March.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
