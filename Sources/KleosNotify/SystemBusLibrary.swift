import Glibc

/// sd-bus of libsystemd, found at run time, so that kleos neither needs it to be built nor to start.
///
/// Only functions with a fixed list of arguments are used: Swift cannot call variadic ones through a pointer.
struct SystemBusLibrary {
    typealias Handle = OpaquePointer
    typealias OpenUser = @convention(c) (UnsafeMutablePointer<Handle?>) -> Int32
    typealias Release = @convention(c) (Handle?) -> Handle?
    typealias NewMethodCall =
        @convention(c) (
            Handle, UnsafeMutablePointer<Handle?>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>,
            UnsafePointer<CChar>
        ) -> Int32
    typealias AppendBasic = @convention(c) (Handle, CChar, UnsafeRawPointer) -> Int32
    typealias Container = @convention(c) (Handle, CChar, UnsafePointer<CChar>) -> Int32
    typealias EndContainer = @convention(c) (Handle) -> Int32
    typealias Call =
        @convention(c) (Handle, Handle, UInt64, UnsafeMutableRawPointer, UnsafeMutablePointer<Handle?>) -> Int32
    typealias ReadBasic = @convention(c) (Handle, CChar, UnsafeMutableRawPointer) -> Int32
    typealias Process = @convention(c) (Handle, UnsafeMutablePointer<Handle?>) -> Int32
    typealias IsSignal = @convention(c) (Handle, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    typealias FreeError = @convention(c) (UnsafeMutableRawPointer) -> Void

    let openUser: OpenUser
    let closeBus: Release
    let newMethodCall: NewMethodCall
    let releaseMessage: Release
    let appendBasic: AppendBasic
    let openContainer: Container
    let closeContainer: EndContainer
    let enterContainer: Container
    let exitContainer: EndContainer
    let call: Call
    let readBasic: ReadBasic
    let freeError: FreeError
    let process: Process
    let isSignal: IsSignal
    let descriptor: EndContainer

    /// The file that holds sd-bus.
    static let fileName = "libsystemd.so.0"

    /// Loads the library; it stays loaded. Throws `DesktopError` where it, or a function of it, is missing.
    static func load() throws(DesktopError) -> SystemBusLibrary {
        guard let library = dlopen(fileName, RTLD_NOW) else {
            let why = dlerror().map { String(cString: $0) } ?? "no reason given"
            throw .unavailable("cannot load \(fileName) (\(why)); install the package libsystemd0")
        }
        return SystemBusLibrary(
            openUser: try symbol("sd_bus_open_user", in: library),
            closeBus: try symbol("sd_bus_flush_close_unref", in: library),
            newMethodCall: try symbol("sd_bus_message_new_method_call", in: library),
            releaseMessage: try symbol("sd_bus_message_unref", in: library),
            appendBasic: try symbol("sd_bus_message_append_basic", in: library),
            openContainer: try symbol("sd_bus_message_open_container", in: library),
            closeContainer: try symbol("sd_bus_message_close_container", in: library),
            enterContainer: try symbol("sd_bus_message_enter_container", in: library),
            exitContainer: try symbol("sd_bus_message_exit_container", in: library),
            call: try symbol("sd_bus_call", in: library),
            readBasic: try symbol("sd_bus_message_read_basic", in: library),
            freeError: try symbol("sd_bus_error_free", in: library),
            process: try symbol("sd_bus_process", in: library),
            isSignal: try symbol("sd_bus_message_is_signal", in: library),
            descriptor: try symbol("sd_bus_get_fd", in: library))
    }

    private static func symbol<T>(_ name: String, in library: UnsafeMutableRawPointer) throws(DesktopError) -> T {
        guard let address = dlsym(library, name) else {
            throw .unavailable("\(fileName) has no function \(name); install a newer libsystemd0")
        }
        // Sound: each T above is the function's declaration in systemd/sd-bus.h, which never changes within
        // libsystemd.so.0; a function pointer has the size of the address, and the library is never closed.
        return unsafeBitCast(address, to: T.self)
    }
}
