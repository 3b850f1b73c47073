import Dispatch
import Glibc
import KleosModel
import KleosSupport

/// Brings what can be read of a set-aside outbox into the one that is in use.
package enum Salvage {
    /// What was found and done.
    package struct Report: Sendable, Equatable {
        /// Events that are in the queue now and were not before.
        package var brought = 0
        /// Events that were there already.
        package var known = 0
        /// Events of which only deliveries, or only damaged values, are left.
        package var lost = 0
        /// Events that no configured endpoint takes and whose deliveries cannot be read.
        package var aimless = 0
        /// Pages that cannot be read.
        package var unreadablePages = 0
        /// Rows that cannot be read.
        package var unreadableRows = 0
    }

    /// Names of the outboxes in `directory` that were set aside, the oldest first. Throws `StoreError`.
    package static func names(in directory: String) throws(StoreError) -> [String] {
        do throws(SystemError) {
            let names = try Folder.names(in: directory).compactMap { name -> String? in
                let name = name.hasSuffix("-wal") ? String(name.dropLast(4)) : name
                let prefixes = [".damaged-", ".replaced-"].map { Database.fileName + $0 }
                let isCompanion = SetAside.companions.contains { name.hasSuffix($0) }
                return !isCompanion && prefixes.contains { name.hasPrefix($0) } ? name : nil
            }
            return Set(names).sorted()
        } catch {
            throw StoreError(.io, operation: "list \(directory)", code: error.code, message: error.description)
        }
    }
}

extension Store {
    /// Reads the outbox `name`, which was set aside in the daemon's folder and is not changed, and brings over what is
    /// not there yet: events under their own keys, with times, submitters, states and receipts. Other work goes on in
    /// between. May be repeated. `progress` is told pages or events done, and how many there are. Fails with kind
    /// `full` where there is no room, and with `missing` where there is no such outbox.
    package nonisolated func salvage(
        _ name: String, policy: SalvagePolicy, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void,
        then completion: @escaping @Sendable (Result<Salvage.Report, StoreError>) -> Void
    ) {
        let (directory, clock) = (directory, clock)
        DispatchQueue.global(qos: .utility).async { [self] in
            let result: Result<Salvage.Report, StoreError>
            do throws(StoreError) {
                guard try Salvage.names(in: directory).contains(name) else {
                    throw StoreError(
                        .missing, operation: "salvage \(name)", message: "no outbox of this name was set aside")
                }
                let run = SalvageRun(store: self, policy: policy, clock: clock, progress: progress)
                result = .success(try run.bring("\(directory)/\(name)"))
            } catch {
                result = .failure(error)
            }
            completion(result)
        }
    }
}

/// One run over a set-aside outbox, on a thread of its own.
private struct SalvageRun {
    let store: Store
    let policy: SalvagePolicy
    let clock: any Clock
    let progress: @Sendable (Int, Int) -> Void

    private static let eventsPerStep = 50

    func bring(_ path: String) throws(StoreError) -> Salvage.Report {
        let file: PageFile
        do throws(SystemError) {
            file = try PageFile(path: path)
        } catch {
            throw StoreError(.io, operation: "read \(path)", code: error.code, message: error.description)
        }
        let scan = SalvageScan(file, progress: progress)
        let reader = SalvageReader(scan)
        var report = Salvage.Report()
        report.unreadablePages = scan.unreadablePages
        report.unreadableRows = scan.unreadableRows
        report.lost = reader.lostEvents
        for standing in reader.standings() {
            try store.performAndWait { (outbox) throws(StoreError) in try outbox.bring(standing) }
        }
        try bringEvents(reader, &report)
        for notice in reader.notices() {
            try store.performAndWait { (outbox) throws(StoreError) in try outbox.bring(notice) }
        }
        return report
    }

    private func bringEvents(_ reader: SalvageReader, _ report: inout Salvage.Report) throws(StoreError) {
        let ids = reader.events
        let isDamaged = report.unreadablePages + report.unreadableRows > 0
        let (policy, now) = (policy, clock.read())
        for start in stride(from: 0, to: ids.count, by: Self.eventsPerStep) {
            let numbers = ids[start..<min(ids.count, start + Self.eventsPerStep)]
            let events = numbers.compactMap(reader.event)
            report.lost += numbers.count - events.count
            let results = try store.performAndWait { (outbox) throws(StoreError) in
                var results: [SalvageResult] = []
                for event in events {
                    results.append(try outbox.bring(event, policy: policy, isDamaged: isDamaged, now: now))
                }
                return results
            }
            for result in results {
                switch result {
                case .brought: report.brought += 1
                case .known: report.known += 1
                case .aimless: report.aimless += 1
                case .full(let reason):
                    throw StoreError(
                        .full, operation: "bring over all events",
                        message: "\(reason); make room and repeat it, which brings over the rest")
                }
            }
            progress(min(ids.count, start + Self.eventsPerStep), ids.count)
        }
    }
}
