"""The program behind script/mutate; see there for how to run it, and mutations.txt for the form of an entry."""

import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path.cwd()
LIST = ROOT / "Tests/Mutations/mutations.txt"
PAGE = ROOT / "docs/mutations.md"
WORK = ROOT / ".build-mutate"
COPY = WORK / "tree"
RESULTS = WORK / "results.json"

# A mutation may make the tests wait for ever, which is as good as a failure.
TESTS_SECONDS = 180
SUITE_SECONDS = 1500


class Trouble(Exception):
    """Something that the person at the terminal has to put right."""


@dataclasses.dataclass
class Mutation:
    name: str
    breaks: str
    file: str
    tests: str
    old: str
    new: str
    line: int

    @property
    def digest(self):
        return hashlib.sha256(repr((self.file, self.old, self.new)).encode()).hexdigest()[:16]


def read_mutations():
    """Reads the list. Raises Trouble with every entry that has a mistake."""
    mutations, problems = [], []
    text = LIST.read_text()
    # Headings of groups begin with one sign more.
    for part in re.split(r"^(?====? )", text, flags=re.M)[1:]:
        if part.startswith("=== "):
            continue
        line = text[: text.index(part)].count("\n") + 1
        form = re.fullmatch(
            r"== (\S+)\n((?:[^\n]+\n)+?)file (\S+)\ntests (\S+)\n---\n(.*?)\n\+\+\+\n(.*?)\s*", part, flags=re.S)
        if form is None:
            problems.append(f"{LIST.name}:{line}: this entry does not have the form that the file's top describes")
            continue
        name, breaks, file, tests, old, new = form.groups()
        mutations.append(Mutation(name, " ".join(breaks.split()), file, tests, old, new, line))
    for mutation in mutations:
        problems += [f"{LIST.name}:{mutation.line}: {mutation.name}: {text}" for text in mistakes(mutation, mutations)]
    if problems:
        raise Trouble("\n".join(problems))
    return mutations


def mistakes(mutation, mutations):
    if sum(other.name == mutation.name for other in mutations) > 1:
        yield "another mutation has the same name"
    path = ROOT / mutation.file
    if not path.is_file():
        yield f"there is no file {mutation.file}"
        return
    count = path.read_text().count(mutation.old)
    if count != 1:
        yield f"its old text is {count} times in {mutation.file}, not once; bring the mutation up to date"
    if mutation.old == mutation.new:
        yield "it changes nothing"
    try:
        re.compile(mutation.tests)
    except re.error as error:
        yield f"its tests are no regular expression: {error}"


# The copy


def sync_copy():
    """Makes the copy like the working tree; what is alike keeps its time, so that it is not built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
    names = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    COPY.mkdir(parents=True, exist_ok=True)
    for name in sorted(names):
        source, target = ROOT / name, COPY / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    for path in sorted(COPY.rglob("*")):
        name = str(path.relative_to(COPY))
        if not name.startswith(".build/") and path.is_file() and name not in names:
            path.unlink()


def end_session(leader):
    """Kills what is left of a command: swift test starts the tests in a process group of their own."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(entry.name)) == leader:
                os.kill(int(entry.name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def run(arguments, log, seconds):
    """Runs a command in the copy. Returns its exit code, or None where it took too long."""
    with open(log, "wb") as output:
        process = subprocess.Popen(
            arguments, cwd=COPY, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True)
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end_session(process.pid)
            process.wait()


def build(what):
    log = WORK / "build.log"
    if run(["swift", "build", "--build-tests", "-j", "2"], log, 3600) == 0:
        return
    errors = [line for line in log.read_text(errors="replace").splitlines() if "error:" in line]
    raise Trouble(f"{what} does not compile:\n" + "\n".join(errors[:8] or [f"see {log}"]))


# Tests


def failures(log):
    """The tests that failed, as `File.swift: test`, and those that had begun and not ended."""
    failed, begun = {}, {}
    for line in log.read_text(errors="replace").splitlines():
        if match := re.search(r"^\S+ Test (.+?) recorded an issue.*? at (\w+\.swift):\d+", line):
            name, file = match.groups()
            failed.setdefault(re.sub(r" with \d+ (argument|test case).*", "", name), file)
        elif match := re.search(r"^\S+ Test (.+?) started\.", line):
            begun[match[1]] = True
        elif match := re.search(r"^\S+ Test (.+?) (?:with .*)?(?:passed|failed|skipped)", line):
            begun.pop(match[1], None)
    return [f"{file}: {name}" for name, file in failed.items()], list(begun)


def test(tests, seconds):
    """Runs tests in the copy. Returns what noticed that something is wrong; None where nothing did."""
    log = WORK / "tests.log"
    command = ["swift", "test", "--skip-build", "--disable-xctest"] + (["--filter", tests] if tests else [])
    code = run(command, log, seconds)
    if code == 0:
        if not re.search(r"Test run with [1-9]", log.read_text(errors="replace")):
            raise Trouble(f"there are no tests for {tests}; see {log}")
        return None
    failed, begun = failures(log)
    if failed:
        return failed[0] + (f" and {len(failed) - 1} more" if len(failed) > 1 else "")
    ending = "waits for ever" if code is None else "crashes"
    return f"{', '.join(begun[:2]) or tests or 'the suite'} {ending}"


def catch(mutation):
    """Applies one mutation and runs its tests, then all. Returns what caught it; None where it survives."""
    path = COPY / mutation.file
    text = path.read_text()
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        build(f"the mutation {mutation.name}")
        return test(mutation.tests, TESTS_SECONDS) or test(None, SUITE_SECONDS)
    finally:
        path.write_text(text)


def is_caught(mutation, results):
    """Whether the last run of the mutation, as it is now, ended well."""
    result = results.get(mutation.name, {})
    return result.get("digest") == mutation.digest and result["caught"] is not None


def run_all(mutations, names):
    unknown = [name for name in names if name not in {mutation.name for mutation in mutations}]
    if unknown:
        raise Trouble(f"there is no mutation {', '.join(unknown)}; script/mutate --list names them")
    chosen = [mutation for mutation in mutations if not names or mutation.name in names]
    WORK.mkdir(exist_ok=True)
    print(f"== copying and building in {COPY.relative_to(ROOT)}", flush=True)
    sync_copy()
    build("the copy")
    if len(chosen) == len(mutations) and (noticed := test(None, SUITE_SECONDS)):
        raise Trouble(f"without any mutation the tests fail already: {noticed}")
    survivors = []
    # One module after the other, so that as little as possible is built.
    for mutation in sorted(chosen, key=lambda mutation: mutation.file):
        began = time.monotonic()
        caught = catch(mutation)
        seconds = round(time.monotonic() - began)
        remember(mutation, caught, seconds)
        print(f"{mutation.name}: {caught or 'SURVIVED'} ({seconds} s)", flush=True)
        if caught is None:
            survivors.append(mutation.name)
    print(f"== {len(chosen)} mutations, {len(chosen) - len(survivors)} caught, {len(survivors)} survived")
    return 1 if survivors else 0


# Results


def read_results():
    return json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}


def remember(mutation, caught, seconds):
    results = read_results()
    results[mutation.name] = {
        "digest": mutation.digest, "caught": caught, "seconds": seconds,
        "date": datetime.date.today().isoformat()}
    RESULTS.write_text(json.dumps(results, indent=1))


def write_page(mutations):
    results = read_results()
    missing = [
        mutation.name for mutation in mutations
        if results.get(mutation.name, {}).get("digest") != mutation.digest]
    if missing:
        raise Trouble(f"run these first: script/mutate {' '.join(missing)}")
    used = [results[mutation.name] for mutation in mutations]
    survived = sum(result["caught"] is None for result in used)
    minutes = round(sum(result["seconds"] for result in used) / 60)
    rows = []
    for mutation, result in zip(mutations, used):
        caught = result["caught"]
        rows.append(f"| {mutation.name} | {mutation.breaks} | {caught.replace('|', '/') if caught else '**SURVIVED**'} |")
    summary = f"The last run of each, up to {max(result['date'] for result in used)}: {len(used)} mutations, " + (
        f"{len(used) - survived} caught, {survived} survived" if survived else "all caught") + (
        f". Their builds and tests took {minutes} minutes, the first build left out.")
    top = PAGE.read_text().split("<!-- results -->")[0]
    PAGE.write_text(
        f"{top}<!-- results -->\n\n{summary}\n\n| mutation | what it breaks | caught by |\n|---|---|---|\n"
        + "\n".join(rows) + "\n")
    print(f"wrote {PAGE.relative_to(ROOT)}: {len(used)} mutations, {survived} survived")
    return 0


def main(arguments):
    options = [argument for argument in arguments if argument.startswith("-")]
    names = [argument for argument in arguments if not argument.startswith("-")]
    if len(options) > 1 or options and (names or options[0] not in ("--left", "--list", "--check", "--write")):
        print("usage: script/mutate [NAME… | --left | --list | --check | --write]", file=sys.stderr)
        return 64
    try:
        mutations = read_mutations()
        if options == ["--list"]:
            for mutation in mutations:
                print(f"{mutation.name}: {mutation.breaks}")
            return 0
        if options == ["--left"]:
            results = read_results()
            names = [mutation.name for mutation in mutations if not is_caught(mutation, results)]
            return run_all(mutations, names) if names else 0
        if options == ["--check"]:
            print(f"{len(mutations)} mutations fit the sources")
            return 0
        return write_page(mutations) if options == ["--write"] else run_all(mutations, names)
    except Trouble as trouble:
        print(f"mutate: {trouble}", file=sys.stderr)
        return 70


sys.exit(main(sys.argv[1:]))
