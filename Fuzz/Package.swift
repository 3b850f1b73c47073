// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because a fuzzer has libFuzzer's main and can only be built with --sanitize=fuzzer; script/fuzz
// does. What is fed and checked is in the target KleosFuzzing of the main package.

let package = Package(
    name: "kleos-fuzz",
    dependencies: [.package(name: "kleos", path: "..")],
    targets: [
        .executableTarget(
            name: "kleos-fuzz", dependencies: [.product(name: "KleosFuzzing", package: "kleos")],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
