/// Words separated by white space; quotation marks, single or double, keep spaces within a word.
enum WordList {
    /// Splits `text`; a backslash takes the next character as it is, except between single quotation marks.
    static func split(_ text: String) throws(ValueError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Unicode.Scalar?
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            if scalar == "\\", quote != "'" {
                guard let escaped = scalars.next() else {
                    throw ValueError(message: "the backslash at the end escapes nothing")
                }
                word = (word ?? "") + String(escaped)
            } else if scalar == quote {
                quote = nil
            } else if quote == nil, scalar == "\"" || scalar == "'" {
                quote = scalar
                word = word ?? ""
            } else if quote == nil, scalar == " " || scalar == "\t" {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(scalar)
            }
        }
        guard quote == nil else { throw ValueError(message: "a quotation mark is never closed") }
        return words + (word.map { [$0] } ?? [])
    }
}
