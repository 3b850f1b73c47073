import Glibc
import KleosSimulation

exit(SimulateProgram.run(Array(CommandLine.arguments.dropFirst())))
