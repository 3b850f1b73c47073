import Glibc
import KleosBench

exit(BenchProgram.run(Array(CommandLine.arguments.dropFirst())))
