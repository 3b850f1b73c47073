import Glibc
import KleosSupport

extension Store {
    /// A larger database would keep everybody waiting while it is written anew.
    private static let rewrittenBytes: Int64 = 32 << 20

    /// Makes erased rows unreadable: they are overwritten as they are deleted, and now leave the log too. A database of
    /// at most 32 MiB is also written anew, so that no page keeps what it held before. Gives whether that was done.
    package nonisolated func purge(then completion: @escaping @Sendable (Result<Bool, StoreError>) -> Void) {
        async { store in
            do throws(StoreError) {
                completion(.success(try store.purgeNow()))
            } catch {
                completion(.failure(error))
            }
        }
    }

    private func purgeNow() throws(StoreError) -> Bool {
        guard let outbox, failure == nil else {
            throw StoreError(.closed, operation: "purge the outbox", message: "the daemon is stopping")
        }
        let bytes = (try outbox.database.integer(.once("PRAGMA page_count")) ?? 0) * Database.pageBytes
        let hasRoom = outbox.space.askFreeBytes() - outbox.options.freeFloorBytes >= 2 * bytes
        let isRewritten = bytes <= Self.rewrittenBytes && hasRoom
        do throws(StoreError) {
            if isRewritten { try outbox.database.execute("VACUUM") }
            _ = try outbox.database.checkpoint(.truncate)
        } catch {
            if error.kind == .io || error.kind == .damaged { fail(error, outbox) }
            throw error
        }
        outbox.database.logPages.pages = 0
        return isRewritten
    }
}

extension Store {
    /// Paths of copies of the queue in the daemon's folder: backups, and queues that were set aside. Throws
    /// `StoreError`.
    package nonisolated func copies() throws(StoreError) -> [String] {
        var paths = try Salvage.names(in: directory).map { "\(directory)/\($0)" }
        let folder = "\(directory)/\(Store.backupFolder)"
        do throws(SystemError) {
            paths += try Folder.names(in: folder).filter { $0.hasPrefix("outbox-") }.sorted().map { "\(folder)/\($0)" }
        } catch  where error.code == ENOENT {
            return paths
        } catch {
            throw StoreError(.io, operation: "list \(folder)", code: error.code, message: error.description)
        }
        return paths
    }
}
