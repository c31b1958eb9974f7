"""The catalogue of the comparison: its columns, and each peer's program, version and missing features."""

from dataclasses import dataclass, field

# The cases of Peers/peer.h, with their names for readers.
COLUMNS = {
    "plain": "plain set",
    "observed": "set, 1 observer",
    "oldnew": "… old and new",
    "ten": "10 observers",
    "keys": "100 keys, an observer each",
    "otherkey": "a key beside an observed one",
    "register": "register, remove",
    "bytes": "bytes",
}


@dataclass(frozen=True)
class Peer:
    name: str
    program: str
    # Features that it lacks, by its own documentation or sources.
    lacks: str = ""
    # The shell command that prints its version.
    version: str = ""
    is_ours: bool = False
    # For the benchmarks' own program: maps a column to a case's name. Other programs name cases as columns.
    cases: dict = field(default_factory=dict)
    # The number of repetitions for counting instructions; fewer for slow cases.
    repeats: int = 2000


RUNNER = "Benchmarks"

PEERS = [
    Peer("KVORuntime, C", RUNNER, is_ours=True, cases={
        "plain": "c.set.unobserved", "observed": "c.set.observed.typed", "oldnew": "c.set.observed.typed.oldnew",
        "ten": "c.observers.10", "keys": "c.manykeys.typed.100", "otherkey": "c.set.otherkey",
        "register": "c.register", "bytes": "c.bytes.only"}),
    Peer("KVORuntime, Swift", RUNNER, is_ours=True, cases={
        "plain": "swift.set.unobserved", "observed": "swift.set.observed", "oldnew": "swift.set.observed.oldnew",
        "ten": "swift.observers.10", "keys": "swift.manykeys.handle.100", "otherkey": "swift.set.otherkey",
        "register": "swift.register.token", "bytes": "swift.bytes.token.objects"}),
    Peer("KVORuntime, Swift, values(of:)", RUNNER, is_ours=True, cases={"observed": "swift.values.next"}, repeats=1000),
    Peer("Qt bindable properties", "qproperty",
         "old values; threads; key paths, names; a set to the same value notifies no observer",
         "pkg-config --modversion Qt6Core"),
    Peer("Qt signals of QObject", "qobject",
         "old values, unless the signal has them; key paths; an observer without a QObject is disconnected by hand",
         "pkg-config --modversion Qt6Core"),
    Peer("GObject notify", "gobject", "old and new values; key paths; storing and comparing is the setter's own work",
         "pkg-config --modversion gobject-2.0", repeats=1000),
    Peer("libsigc++", "sigc", "properties, names, old values; threads", "pkg-config --modversion sigc++-2.0"),
    Peer("Boost.Signals2", "boost", "properties, names, old values",
         "sed -n 's/^#define BOOST_LIB_VERSION \"\\(.*\\)\"/\\1/p' /usr/include/boost/version.hpp"),
    Peer("GNUstep Base", "gnustep", "observed objects that die observed; block handlers and tokens; computed properties "
         "without declaration", "pkg-config --modversion gnustep-base 2>/dev/null || dpkg-query -W -f '${Version}' libgnustep-base-dev",
         repeats=200),
    Peer("Swift Observation, tracked anew", RUNNER,
         "values; more than the next change; key paths; names; collections element by element",
         cases={"observed": "observation.set.observed"}, repeats=1000),
    Peer("Swift didSet, an array of closures", RUNNER,
         "what is not written by hand: removal, threads, old values, names",
         cases={"plain": "swift.plain.set", "observed": "floor.swift.didset"}),
    Peer("Swift AsyncStream, yield and next", RUNNER, "more than one reader; old values; names; the newest value alone",
         cases={"observed": "floor.asyncstream.next"}, repeats=1000),
]
