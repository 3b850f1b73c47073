/// How a load speaks to a server in which every answer is one line.
package protocol LoadLanguage {
    /// Adds the next request to `bytes`.
    mutating func appendRequest(to bytes: inout [UInt8])
    /// Whether an answer, without its line feed, refuses what was asked.
    func isRefusal(_ line: UnsafeRawBufferPointer) -> Bool
}
