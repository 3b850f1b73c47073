import Glibc

/// A connection to the user's session bus; used from one thread.
final class SessionBus {
    let library: SystemBusLibrary
    private let bus: SystemBusLibrary.Handle

    /// Connects. Throws `DesktopError`.
    init() throws(DesktopError) {
        library = try SystemBusLibrary.load()
        var handle: SystemBusLibrary.Handle?
        let result = library.openUser(&handle)
        guard result >= 0, let handle else {
            throw .unavailable("cannot connect to the session bus: \(Self.text(result))")
        }
        bus = handle
    }

    deinit {
        _ = library.closeBus(bus)
    }

    /// A call's destination.
    struct Member {
        let destination: String
        let path: String
        let interface: String
        let name: String
    }

    /// Readable when something came; what a call has read meanwhile is there without that.
    var descriptor: Int32 { library.descriptor(bus) }

    /// The bus's own interface.
    static let interface = "org.freedesktop.DBus"
    /// The signal that tells that a name was taken or given up.
    static let ownerChanged = "NameOwnerChanged"

    /// Asks the bus for the signals of an interface. Throws `DesktopError`.
    func listen(to interface: String) throws(DesktopError) {
        try addMatch("type='signal',interface='\(interface)'")
    }

    /// Asks the bus to tell when `name` is taken or given up. Throws `DesktopError`.
    func listen(toOwnerOf name: String) throws(DesktopError) {
        try addMatch(
            "type='signal',sender='\(Self.interface)',interface='\(Self.interface)',member='\(Self.ownerChanged)',"
                + "arg0='\(name)'")
    }

    private func addMatch(_ rule: String) throws(DesktopError) {
        let member = Member(
            destination: Self.interface, path: "/org/freedesktop/DBus", interface: Self.interface, name: "AddMatch")
        _ = try call(member, timeoutMilliseconds: 10_000) { message throws(DesktopError) in try message.append(rule) }
    }

    /// The next of these signals that has come; nil where none has. Throws `DesktopError` where the bus is gone.
    func nextSignal(
        _ signals: [(interface: String, name: String)]
    ) throws(DesktopError) -> (name: String, message: BusMessage)? {
        while true {
            var handle: SystemBusLibrary.Handle?
            let result = library.process(bus, &handle)
            guard result >= 0 else { throw .unavailable("the session bus is gone: \(Self.text(result))") }
            guard result > 0 else { return nil }
            guard let handle else { continue }
            let message = BusMessage(handle, library)
            let signal = signals.first { library.isSignal(handle, $0.interface, $0.name) > 0 }
            if let signal { return (signal.name, message) }
        }
    }

    /// Calls a method and waits for the answer, at most `timeoutMilliseconds`; `write` appends the arguments.
    /// Throws `DesktopError`.
    func call(
        _ member: Member, timeoutMilliseconds: UInt64, _ write: (BusMessage) throws(DesktopError) -> Void
    ) throws(DesktopError) -> BusMessage {
        var handle: SystemBusLibrary.Handle?
        let made = library.newMethodCall(bus, &handle, member.destination, member.path, member.interface, member.name)
        guard made >= 0, let handle else {
            throw .unavailable("cannot make a call of \(member.name): \(Self.text(made))")
        }
        let request = BusMessage(handle, library)
        try write(request)
        return try send(request, member, timeoutMilliseconds: timeoutMilliseconds)
    }

    private func send(
        _ request: BusMessage, _ member: Member, timeoutMilliseconds: UInt64
    ) throws(DesktopError) -> BusMessage {
        // sd_bus_error: a name, a message and a flag.
        var error: (UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int) = (nil, nil, 0)
        var answer: SystemBusLibrary.Handle?
        // Sound: the tuple has the size and layout of the struct, whose last member is an int with padding; its texts
        // are copied before sd_bus_error_free.
        let result = withUnsafeMutableBytes(of: &error) { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -EINVAL }
            return library.call(bus, request.handle, timeoutMilliseconds * 1_000, base, &answer)
        }
        if result >= 0, let answer { return BusMessage(answer, library) }
        let name = error.0.map { String(cString: $0) } ?? ""
        let message = error.1.map { String(cString: $0) } ?? Self.text(result)
        withUnsafeMutableBytes(of: &error) { bytes in
            if let base = bytes.baseAddress { library.freeError(base) }
        }
        let text = "\(member.interface).\(member.name) failed: \(message)"
        throw Self.isPermanent(name) ? .refused(text) : .unavailable(text)
    }

    /// Whether the service itself said no; everything else is a bus or service that is not there.
    private static func isPermanent(_ name: String) -> Bool {
        name == "org.freedesktop.DBus.Error.InvalidArgs" || name == "org.freedesktop.DBus.Error.LimitsExceeded"
            || (!name.isEmpty && !name.hasPrefix("org.freedesktop.DBus.") && !name.hasPrefix("System.Error."))
    }

    static func text(_ negativeErrno: Int32) -> String {
        String(cString: strerror(-negativeErrno))
    }
}

/// One message of the bus.
final class BusMessage {
    let handle: SystemBusLibrary.Handle
    private let library: SystemBusLibrary

    init(_ handle: SystemBusLibrary.Handle, _ library: SystemBusLibrary) {
        self.handle = handle
        self.library = library
    }

    deinit {
        _ = library.releaseMessage(handle)
    }

    func append(_ text: String) throws(DesktopError) {
        try check(text.withCString { library.appendBasic(handle, Self.type("s"), $0) })
    }

    func append(_ number: UInt32) throws(DesktopError) {
        var number = number
        try check(library.appendBasic(handle, Self.type("u"), &number))
    }

    func append(_ number: Int32) throws(DesktopError) {
        var number = number
        try check(library.appendBasic(handle, Self.type("i"), &number))
    }

    func append(_ byte: UInt8) throws(DesktopError) {
        var byte = byte
        try check(library.appendBasic(handle, Self.type("y"), &byte))
    }

    /// Appends an array, a variant or an entry of a dictionary, whose contents `write` appends.
    func append(
        _ container: Unicode.Scalar, of contents: String, _ write: () throws(DesktopError) -> Void
    ) throws(DesktopError) {
        try check(library.openContainer(handle, Self.type(container), contents))
        try write()
        try check(library.closeContainer(handle))
    }

    func readNumber() throws(DesktopError) -> UInt32 {
        var number: UInt32 = 0
        guard try check(library.readBasic(handle, Self.type("u"), &number)) > 0 else {
            throw .refused("the notification service gave no number")
        }
        return number
    }

    func readText() throws(DesktopError) -> String {
        var text: UnsafePointer<CChar>?
        guard try check(library.readBasic(handle, Self.type("s"), &text)) > 0, let text else {
            throw .refused("the notification service gave no text")
        }
        return String(cString: text)
    }

    func readTexts() throws(DesktopError) -> [String] {
        try check(library.enterContainer(handle, Self.type("a"), "s"))
        var texts: [String] = []
        while true {
            var text: UnsafePointer<CChar>?
            guard try check(library.readBasic(handle, Self.type("s"), &text)) > 0, let text else { break }
            texts.append(String(cString: text))
        }
        try check(library.exitContainer(handle))
        return texts
    }

    private static func type(_ letter: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: letter)) }

    @discardableResult
    private func check(_ result: Int32) throws(DesktopError) -> Int32 {
        guard result >= 0 else { throw .refused("a D-Bus message is wrong: \(SessionBus.text(result))") }
        return result
    }
}
