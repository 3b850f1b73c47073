/// A score, kept exactly: a whole number of `10^-decimals` units.
package struct ScoreValue: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The value in units of `10^-decimals`.
    package let units: Int64
    /// Digits after the decimal point, 0 … 9; the leaderboard says how many.
    package let decimals: Int

    /// The most decimals that a leaderboard may have.
    package static let maximumDecimals = 9

    /// Makes a value from its units.
    package init(units: Int64, decimals: Int = 0) {
        precondition((0...Self.maximumDecimals).contains(decimals), "decimals out of range")
        self.units = units
        self.decimals = decimals
    }

    /// Why a text is no value of a leaderboard.
    package enum ParseError: Error, Equatable {
        case notANumber
        case tooManyDecimals
        case outOfRange
    }

    /// Reads a number in decimal or exponent form (`8080`, `8080.0`, `8.08e3`) exactly.
    /// Throws `ParseError`; a text of more than 64 bytes is `notANumber`.
    package init(text: String, decimals: Int) throws(ParseError) {
        if let units = PlainInteger.read(text, shift: decimals) {
            self.init(units: units, decimals: decimals)
            return
        }
        var parser = DecimalText(text)
        guard text.utf8.count <= 64, let number = parser.read() else { throw .notANumber }
        var digits = number.digits
        var shift = number.exponent + decimals
        while shift < 0, let last = digits.last {
            guard last == 0 else { throw .tooManyDecimals }
            digits.removeLast()
            shift += 1
        }
        var units: Int64 = 0
        if digits.contains(where: { $0 != 0 }) {
            guard shift <= 19 else { throw .outOfRange }
            for digit in digits + [Int64](repeating: 0, count: max(0, shift)) {
                let (product, overflowed) = units.multipliedReportingOverflow(by: 10)
                let (sum, overflowedAgain) = product.addingReportingOverflow(number.isNegative ? -digit : digit)
                guard !overflowed, !overflowedAgain else { throw .outOfRange }
                units = sum
            }
        }
        self.init(units: units, decimals: decimals)
    }

    /// The value in plain decimal form, with all its decimals: `8080`, `12.50`.
    package var description: String {
        guard decimals > 0 else { return String(units) }
        let digits = String(units.magnitude)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        let sign = units < 0 ? "-" : ""
        return "\(sign)\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    }

    private var scaled: Int128 {
        var result = Int128(units)
        for _ in decimals..<Self.maximumDecimals { result *= 10 }
        return result
    }

    package static func < (left: ScoreValue, right: ScoreValue) -> Bool {
        left.decimals == right.decimals ? left.units < right.units : left.scaled < right.scaled
    }

    package static func == (left: ScoreValue, right: ScoreValue) -> Bool {
        left.decimals == right.decimals ? left.units == right.units : left.scaled == right.scaled
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scaled)
    }
}

/// Whole numbers as nearly all scores are written, without fraction and exponent.
private enum PlainInteger {
    /// The number times ten to the power of `shift`; nil for anything else, and where it does not fit.
    static func read(_ text: String, shift: Int) -> Int64? {
        let number = text.utf8.withContiguousStorageIfAvailable(read) ?? nil
        guard var number else { return nil }
        for _ in 0..<shift {
            let (product, overflowed) = number.multipliedReportingOverflow(by: 10)
            guard !overflowed else { return nil }
            number = product
        }
        return number
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        // Eighteen digits fit for certain; a zero before others is no number.
        guard (1...18).contains(text.count - start), text.count - start == 1 || text[start] != UInt8(ascii: "0") else {
            return nil
        }
        var number: Int64 = 0
        for byte in text[start...] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return isNegative ? -number : number
    }
}

/// A reader of one number in JSON's grammar, leading zeros and a plus sign excluded.
private struct DecimalText {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    mutating func read() -> (isNegative: Bool, digits: [Int64], exponent: Int)? {
        let isNegative = take("-")
        var digits = takeDigits()
        guard !digits.isEmpty, digits.count == 1 || digits[0] != 0 else { return nil }
        var exponent = 0
        if take(".") {
            let fraction = takeDigits()
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            exponent = -fraction.count
        }
        if take("e") || take("E") {
            let isSmall = take("-")
            if !isSmall { _ = take("+") }
            let power = takeDigits()
            guard !power.isEmpty, power.count <= 4 else { return nil }
            let size = power.reduce(0) { $0 * 10 + Int($1) }
            exponent += isSmall ? -size : size
        }
        return rest.isEmpty ? (isNegative, digits, exponent) : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func takeDigits() -> [Int64] {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits.map { Int64($0 - UInt8(ascii: "0")) }
    }
}
