package import CSimulatedDisk
import Glibc
import Synchronization

/// A disk that loses what was not synced; the header of `CSimulatedDisk` describes it.
///
/// `name` is what `StoreOptions.sqliteFileSystem` takes. It is unregistered with the last reference, which therefore
/// outlives every database on it.
///
/// Sendable because its users take turns: a store works on it only between a test's calls, on the store's queue.
package final class SimulatedDisk: @unchecked Sendable {
    private static let made = Atomic<Int>(0)

    /// The name of the SQLite file system.
    package let name: String
    private let disk: OpaquePointer
    private var syncHook: (() -> Void)?

    /// Makes a disk whose choices all come from `seed`.
    package init(seed: UInt64) {
        let number = Self.made.add(1, ordering: .relaxed).newValue
        name = "kleos-disk-\(number)"
        guard let disk = sim_disk_create(name, seed) else { fatalError("SQLite refused the file system \(name)") }
        self.disk = disk
    }

    deinit {
        sim_disk_destroy(disk)
    }

    /// Forgets all files, faults and counts, and begins again from `seed`; no database may be open.
    package func reset(seed: UInt64) { sim_disk_reset(disk, seed) }

    /// Cuts the power: of what was not synced, any part survives. Open databases get errors only.
    package func cutPower() { sim_disk_cut(disk) }

    /// Lets so many more changes through; during the next one the disk stops. Negative: never.
    package func stop(afterOperations operations: Int) { sim_disk_stop_after(disk, Int64(operations)) }

    /// Whether the disk has stopped.
    package var isStopped: Bool { sim_disk_is_stopped(disk) }

    /// Lets a stopped disk work again with the files as they are, as after a crash of the process.
    package func restart() { sim_disk_restart(disk) }

    /// Limits the size of all files together; nil for no limit.
    package func setCapacity(bytes: Int64?) { sim_disk_set_capacity(disk, bytes ?? -1) }

    /// What can be made to fail; the header says how each does.
    package enum Operation: CaseIterable, Sendable {
        case read, write, sync, truncate, open, delete

        fileprivate var kind: sim_disk_kind {
            switch self {
            case .read: SIM_DISK_READ
            case .write: SIM_DISK_WRITE
            case .sync: SIM_DISK_SYNC
            case .truncate: SIM_DISK_TRUNCATE
            case .open: SIM_DISK_OPEN
            case .delete: SIM_DISK_DELETE
            }
        }
    }

    /// Lets `after` more operations succeed and the `count` following ones fail; nil for all of them.
    package func fail(_ operation: Operation, after: Int = 0, count: Int? = 1) {
        sim_disk_fail(disk, operation.kind, Int64(after), Int64(count ?? -1))
    }

    /// Renames a file as rename(2) does; durable with the folder's sync.
    @discardableResult
    package func rename(_ from: String, _ to: String) -> Int32 { sim_disk_rename(disk, from, to) }

    /// Removes a file as unlink(2) does; durable with the folder's sync.
    @discardableResult
    package func unlink(_ path: String) -> Int32 { sim_disk_unlink(disk, path) }

    /// Makes the names in a folder durable.
    @discardableResult
    package func syncFolder(_ path: String) -> Int32 { sim_disk_sync_folder(disk, path) }

    /// Sets what is called at the beginning of each sync of a file, for slow disks.
    package func onSync(_ hook: (() -> Void)?) {
        syncHook = hook
        // The disk lives no longer than this object, which it therefore need not hold.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sim_disk_on_sync(
            disk,
            { context in
                guard let context else { return }
                // The object that was passed, as said above.
                Unmanaged<SimulatedDisk>.fromOpaque(context).takeUnretainedValue().syncHook?()
            }, context)
    }

    /// What the disk did since its last reset.
    package var counts: sim_disk_counts { sim_disk_get_counts(disk) }
}
