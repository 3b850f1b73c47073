import Dispatch
import Glibc
import KleosSupport
import KleosTestSupport
import Synchronization
import Testing

/// One end of a socket pair under watch, and what was told of it.
private final class WatchedSocket: Sendable {
    let peer: Mutex<FileDescriptor?>
    let told = Mutex<[Readiness]>([])
    private let descriptor: Mutex<FileDescriptor?>
    private let watch: Mutex<SocketWatch?>

    /// `then` is called on the queue, after each time.
    init(_ poller: SocketPoller, then: @escaping @Sendable (WatchedSocket) -> Void = { _ in }) throws {
        let (near, far) = try UnixSocket.pair()
        try near.setNonBlocking()
        descriptor = Mutex(near)
        peer = Mutex(far)
        watch = Mutex(nil)
        let made = try SocketWatch(near, on: poller) { [weak self] ready in
            guard let self else { return }
            told.withLock { $0.append(ready) }
            then(self)
        }
        watch.withLock { $0 = made }
    }

    var count: Int { told.withLock { $0.count } }

    func read(limitBytes: Int = 100) -> Int? {
        descriptor.withLock { try? $0?.read(limitBytes: limitBytes).count }
    }
    func resume(_ readiness: Readiness) { watch.withLock { $0?.resume(readiness) } }
    func suspend(_ readiness: Readiness) { watch.withLock { $0?.suspend(readiness) } }
    func cancel() { watch.withLock { $0?.cancel() } }
    func letGoOfDescriptor() { descriptor.withLock { $0 = nil } }
    func letGo() { watch.withLock { $0 = nil } }
    func send(_ count: Int = 1) throws {
        try peer.withLock { try $0?.writeAll([UInt8](repeating: 1, count: count)) }
    }
    func hangUp() { peer.withLock { $0 = nil } }
}

@Suite struct SocketPollerTests {
    private let queue = DispatchQueue(label: "kleos.test.poller")
    private let poller: SocketPoller

    init() throws {
        poller = try SocketPoller(queue: queue)
    }

    /// Waits until the queue has told everything that can be told by now: a turn tells of all that is ready.
    private func settle() throws {
        let last = try WatchedSocket(poller) { $0.cancel() }
        last.resume(.read)
        last.hangUp()
        try #require(Patience.until { last.count > 0 })
        queue.sync {}
    }

    @Test func tellsAgainForAsLongAsThereIsSomethingToRead() throws {
        let socket = try WatchedSocket(poller) { _ = $0.read(limitBytes: 1) }
        socket.resume(.read)
        try socket.send(3)
        try #require(Patience.until { socket.count >= 3 })
        try settle()
        #expect(socket.told.withLock { $0 } == [.read, .read, .read])
    }

    @Test func whatWasSentBeforeTheEndCanAllBeRead() throws {
        let read = Mutex<[Int?]>([])
        let socket = try WatchedSocket(poller) { socket in
            let count = socket.read(limitBytes: 2)
            read.withLock { $0.append(count) }
            if count == 0 { socket.cancel() }
        }
        try socket.send(5)
        socket.hangUp()
        socket.resume(.read)
        try #require(Patience.until { read.withLock { $0.last } == .some(0) })
        #expect(read.withLock { $0 } == [2, 2, 1, 0])
    }

    @Test func tellsOnlyWhatIsAskedFor() throws {
        let socket = try WatchedSocket(poller) { $0.suspend([.read, .write]) }
        try socket.send()
        try settle()
        #expect(socket.count == 0)
        socket.resume(.write)
        try #require(Patience.until { socket.count >= 1 })
        #expect(socket.told.withLock { $0 } == [.write])
        socket.resume(.read)
        try #require(Patience.until { socket.count >= 2 })
        try settle()
        #expect(socket.told.withLock { $0 } == [.write, .read])
    }

    @Test func aHangUpThatNobodyAskedForIsToldWhenSomebodyDoes() throws {
        let socket = try WatchedSocket(poller) { $0.suspend([.read, .write]) }
        socket.resume(.read)
        socket.suspend(.read)
        socket.hangUp()
        try settle()
        #expect(socket.count == 0)
        socket.resume(.write)
        try #require(Patience.until { socket.count >= 1 })
        socket.resume(.read)
        try #require(Patience.until { socket.count >= 2 })
        try settle()
        #expect(socket.told.withLock { $0 } == [.write, .read])
    }

    @Test func whoeverIsSuspendedOrCancelledInATurnIsNotToldInIt() throws {
        let others = Mutex<[WatchedSocket]>([])
        // Whichever comes first stops all the others, each in its way.
        let stop: @Sendable (WatchedSocket) -> Void = { first in
            for (index, other) in others.withLock({ $0 }).enumerated() where other !== first {
                switch index % 3 {
                case 0: other.suspend(.read)
                case 1: other.cancel()
                default: other.letGo()
                }
            }
            first.cancel()
        }
        let all = try (0..<20).map { _ in try WatchedSocket(poller, then: stop) }
        others.withLock { $0 = all }
        try queue.sync {
            for socket in all {
                socket.resume(.read)
                try socket.send()
            }
        }
        try #require(Patience.until { all.contains { $0.count > 0 } })
        try settle()
        #expect(all.map(\.count).reduce(0, +) == 1)
        others.withLock { $0 = [] }
    }

    @Test(arguments: [true, false])
    func aSocketStaysOpenUntilItsWatchEnds(isCancelled: Bool) throws {
        let socket = try WatchedSocket(poller)
        let peer = try #require(socket.peer.withLock { $0 })
        try peer.setNonBlocking()
        socket.letGoOfDescriptor()
        #expect(throws: SystemError.self, "there is nothing to read yet") { _ = try peer.read(limitBytes: 1) }
        if isCancelled { socket.cancel() } else { socket.letGo() }
        #expect(try peer.read(limitBytes: 1).isEmpty, "the end, which comes when the last reference is gone")
    }

    @Test func aSocketCanBeWatchedAnewAtOnce() throws {
        let (near, far) = try UnixSocket.pair()
        let told = Mutex(0)
        for round in 1...20 {
            let watch = try SocketWatch(near, on: poller) { _ in told.withLock { $0 += 1 } }
            watch.resume(.read)
            try far.writeAll([1])
            try #require(Patience.until { told.withLock { $0 } >= 1 }, "\(round)")
            watch.cancel()
            queue.sync {}
            told.withLock { $0 = 0 }
            #expect(try near.read(limitBytes: 8).count == 1)
        }
    }

    @Test func manyThatHangUpAtOnceAreAllToldOf() throws {
        let sockets = try (0..<200).map { _ in try WatchedSocket(poller) { $0.cancel() } }
        for socket in sockets { socket.resume(.read) }
        DispatchQueue.concurrentPerform(iterations: sockets.count) { sockets[$0].hangUp() }
        try #require(Patience.until { sockets.allSatisfy { $0.count > 0 } })
        try settle()
        #expect(sockets.allSatisfy { $0.count == 1 })
    }

    @Test func watchesMayEndOnAnyThreadWhileOthersAreTold() throws {
        DispatchQueue.concurrentPerform(iterations: 400) { _ in
            // A socket that is let go of from another thread than the queue's, at whatever moment.
            let socket = try? WatchedSocket(poller) { _ = $0.read() }
            socket?.resume([.read, .write])
            try? socket?.send(10)
            socket?.letGo()
        }
        try settle()
    }

    @Test func aPollerThatIsLetGoTellsNothingMore() throws {
        var poller: SocketPoller? = try SocketPoller(queue: queue)
        weak let remaining = poller
        var socket: WatchedSocket? = try WatchedSocket(try #require(poller))
        poller = nil
        #expect(remaining != nil, "its watches keep it")
        socket?.resume(.read)
        socket = nil
        #expect(Patience.until { remaining == nil })
    }
}
