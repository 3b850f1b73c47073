import CLinux
import Dispatch
import Glibc

/// Lets a program end with the one that started it.
package enum ParentWatch {
    /// Sends this process SIGTERM when its parent ends. Called first of all: a parent that ended before has an heir,
    /// who is taken for it.
    ///
    /// The kernel's own signal (PR_SET_PDEATHSIG) comes when the parent's thread ends that started this process, which
    /// in a parent with a pool of threads can be at any time.
    package static func begin() {
        let parent = getppid()
        let number = kleos_pidfd_open(parent)
        // The parent may have ended before it was watched.
        guard number >= 0, getppid() == parent else {
            kill(getpid(), SIGTERM)
            return
        }
        let descriptor = FileDescriptor(owning: number)
        DispatchQueue(label: "kleos.parent").async {
            var watched = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            _ = Retry.onInterrupt { poll(&watched, 1, -1) }
            kill(getpid(), SIGTERM)
        }
    }
}
