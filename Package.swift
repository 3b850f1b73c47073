// swift-tools-version: 6.2
import PackageDescription

// Imports run down this list only; see docs/architecture.md for a paragraph on each target.

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "kleos",
    products: [
        .library(name: "KleosClient", targets: ["KleosClient"]),
        .executable(name: "kleosd", targets: ["kleosd"]),
        .executable(name: "kleos", targets: ["kleos"]),
        .executable(name: "kleos-practice", targets: ["kleos-practice"]),
        .executable(name: "kleos-minesweeper", targets: ["kleos-minesweeper"]),
        .executable(name: "kleos-bench", targets: ["kleos-bench"]),
        .executable(name: "kleos-simulate", targets: ["kleos-simulate"]),
        .library(name: "KleosFuzzing", targets: ["KleosFuzzing"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        .target(
            name: "CSimulatedDisk", dependencies: ["CSQLite"],
            cSettings: [.treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra")]),

        library("KleosSupport", ["CLinux"]),
        library("KleosJSON"),
        library("KleosModel", ["KleosSupport"]),
        library("KleosConfig", ["KleosSupport", "KleosModel"]),
        library("KleosStore", ["CSQLite", "KleosSupport", "KleosModel"]),
        library("KleosWire", ["KleosSupport", "KleosJSON", "KleosModel"]),
        library("KleosClient", ["KleosSupport", "KleosJSON", "KleosModel", "KleosWire"]),
        library(
            "KleosServer",
            ["KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore", "KleosWire"]),
        library(
            "KleosDelivery",
            ["CCurl", "CLinux", "KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore"]),
        library(
            "KleosNotify",
            ["KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore", "KleosWire", "KleosClient"]),
        library(
            "KleosDaemon",
            [
                "KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore", "KleosWire",
                "KleosServer", "KleosDelivery", "KleosNotify",
            ]),
        library("KleosPractice", ["CLinux", "KleosSupport", "KleosJSON", "KleosModel"]),
        library("KleosMinesweeper", ["KleosSupport", "KleosJSON", "KleosModel", "KleosClient"]),
        library(
            "KleosCommandLine",
            [
                "CLinux", "KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosWire", "KleosClient",
                "KleosNotify", "KleosPractice", "KleosMinesweeper",
            ]),

        executable("kleosd", ["KleosDaemon"]),
        executable("kleos", ["KleosCommandLine"]),
        executable("kleos-practice", ["KleosPractice"]),
        executable("kleos-minesweeper", ["KleosMinesweeper"]),
        library(
            "KleosBench",
            ["CLinux", "CSQLite", "CCurl", "KleosSupport", "KleosJSON", "KleosWire", "KleosClient"]),
        executable("kleos-bench", ["KleosBench"]),

        library(
            "KleosTestSupport",
            [
                "CSimulatedDisk", "KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore", "KleosWire",
            ]),
        library(
            "KleosSimulation",
            [
                "CSimulatedDisk", "KleosSupport", "KleosJSON", "KleosModel", "KleosStore", "KleosDelivery",
                "KleosDaemon",
                "KleosTestSupport",
            ]),
        executable("kleos-simulate", ["KleosSimulation"]),
        library(
            "KleosFuzzing",
            [
                "KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosWire", "KleosDelivery",
                "KleosTestSupport",
            ]),

        tests("KleosSimulationTests", ["kleos-simulate", "KleosSimulation", "KleosTestSupport"]),
        tests("KleosSupportTests", ["KleosSupport", "KleosTestSupport"]),
        tests("KleosJSONTests", ["KleosJSON", "KleosSupport"]),
        tests("KleosModelTests", ["KleosModel", "KleosSupport"]),
        tests("KleosConfigTests", ["KleosConfig", "KleosModel", "KleosSupport", "KleosTestSupport"]),
        tests(
            "KleosStoreTests", ["KleosStore", "KleosModel", "KleosSupport", "KleosTestSupport"],
            exclude: ["Fixtures"]),
        tests("KleosWireTests", ["KleosWire", "KleosJSON", "KleosModel", "KleosSupport"]),
        tests(
            "KleosClientTests",
            ["KleosClient", "KleosWire", "KleosJSON", "KleosModel", "KleosSupport", "KleosTestSupport"]),
        tests(
            "KleosServerTests",
            [
                "KleosServer", "KleosWire", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore",
                "KleosSupport", "KleosTestSupport",
            ]),
        tests(
            "KleosDeliveryTests",
            [
                "KleosDelivery", "KleosJSON", "KleosModel", "KleosConfig", "KleosStore", "KleosSupport",
                "KleosTestSupport", "KleosPractice",
            ]),
        tests(
            "KleosDaemonTests",
            ["KleosDaemon", "KleosDelivery", "KleosModel", "KleosStore", "KleosSupport", "KleosTestSupport"]),
        tests(
            "KleosNotifyTests",
            [
                "KleosNotify", "KleosModel", "KleosConfig", "KleosStore", "KleosSupport", "KleosJSON", "KleosWire",
                "KleosTestSupport", "kleos",
            ]),
        tests(
            "KleosPracticeTests",
            ["kleos-practice", "KleosPractice", "KleosJSON", "KleosModel", "KleosSupport", "KleosTestSupport"]),
        tests(
            "KleosMinesweeperTests",
            [
                "KleosMinesweeper", "KleosSupport", "KleosJSON", "KleosModel", "KleosConfig", "KleosWire",
                "KleosTestSupport", "kleos-minesweeper",
            ]),
        tests(
            "KleosCommandLineTests",
            ["KleosCommandLine", "KleosJSON", "KleosModel", "KleosWire", "KleosSupport", "KleosTestSupport"]),
        tests("KleosBenchTests", ["KleosBench", "KleosJSON", "KleosSupport", "KleosTestSupport"]),
        tests("KleosFuzzingTests", ["KleosFuzzing", "KleosSupport", "KleosTestSupport"]),
        tests(
            "KleosEndToEndTests",
            [
                "CSQLite",
                "KleosTestSupport", "KleosSupport", "KleosJSON", "KleosModel", "KleosStore", "KleosWire",
                "KleosClient", "KleosPractice", "KleosCommandLine", "KleosMinesweeper",
                "kleosd", "kleos", "kleos-practice", "kleos-minesweeper",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
