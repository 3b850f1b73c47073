import Glibc
import KleosFuzzing

/// Names the target: a folder of `Fuzz/Corpus`.
private let targetName = getenv("KLEOS_FUZZ_TARGET").map { String(cString: $0) } ?? ""

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    fuzz(target: targetName, UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
}
