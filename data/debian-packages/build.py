#!/usr/bin/env python3
"""Builds the Debian package graph, the data set inside Sapwood.

    python3 build.py -o DIR [--mirror URL | --packages FILE --translation FILE]

Needs the programs `apt-get` and `apt-helper` (package apt) and `zstd`; else only the Python standard library.
It never touches the apt lists of the machine and never leaves a half-written file: everything is made in a
temporary folder and renamed into place at the end. The same two indices give the same files, byte for byte
before compression. The rules are told in README.md; start reading at `build`.
"""

import argparse
import bz2
import collections
import gzip
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUITE, COMPONENT, ARCHITECTURE = "bookworm", "main", "amd64"
APT_HELPER = "/usr/lib/apt/apt-helper"
KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# Class i is the i-th line: its name, then its archive sections. A section that is nowhere here has no class.
CLASSES = [
    ("libs", "libs"),
    ("libdevel", "libdevel"),
    ("devel", "devel vcs debug embedded"),
    ("doc", "doc"),
    ("python", "python zope"),
    ("perl", "perl"),
    ("haskell", "haskell"),
    ("rust", "rust"),
    ("golang", "golang"),
    ("javascript", "javascript"),
    ("java", "java"),
    ("ruby", "ruby"),
    ("gnu-r", "gnu-r"),
    ("php", "php"),
    ("languages", "ocaml lisp interpreters cli-mono"),
    ("science", "science math electronics education hamradio"),
    ("net", "net web httpd mail news comm"),
    ("system", "admin utils shells kernel otherosfs database"),
    ("desktop", "x11 gnome kde xfce gnustep"),
    ("games", "games"),
    ("media", "sound video graphics"),
    ("text", "text editors tex fonts"),
]
CLASS_OF_SECTION = {s: i for i, (_, sections) in enumerate(CLASSES) for s in sections.split()}

# Words that say the class outright: with them a model would read the answer instead of learning it.
CLASS_WORDS = frozenset(
    """
    bioconductor cargo cli cpan cran crate crates debcargo devel development doc docs documentation game
    games gcc gem gems ghc golang haskell header headers jar java javadoc javascript lib libraries
    library libs lisp mono node nodejs ocaml pear pecl perl php python ruby rubygem rust static
    """.split()
)
WORD = re.compile("[a-z]{2,}")
WORD_LENGTHS = range(3, 21)
MIN_DOCUMENTS = 20
MAX_SHARE = 5  # a word may stand in at most n / 5 of the texts

RELATIONS = ("depends", "pre-depends", "recommends", "suggests")
PACKAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.\-]*")
PORT_SUFFIX = re.compile(r"(-cross|-mipsen|-ports)+$")
SPLIT_KEY = "sapwood-split-1:"
LARGE_FAMILY = 200


class BuildError(Exception):
    """What went wrong and what to do about it, in one line."""


# ---------------------------------------------------------------- indices


Indices = collections.namedtuple("Indices", "packages translation version date")  # two bytes, two str or None


def run(command):
    """Standard output (bytes) of a program; its first error line becomes ours."""
    try:
        done = subprocess.run(command, capture_output=True)
    except FileNotFoundError:
        raise BuildError(f"program not found: {command[0]} (needed: apt, zstd)") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        line = next((line for line in said if line.startswith("E:")), said[-1])
        raise BuildError(f"{os.path.basename(command[0])} failed with status {done.returncode}: {line}")
    return done.stdout


def index_targets(options, fields, *filters):
    """Rows of `apt-get indextargets`: one list of the wanted fields per index file that apt knows."""
    wanted = "\t".join(f"$({field})" for field in fields)
    out = run(["apt-get", *options, "indextargets", "--format", wanted, *filters]).decode()
    return [line.split("\t") for line in out.splitlines() if line]


def apt_mirror():
    """The Debian mirror this machine's apt is set up with.

    By the Release file (Origin and Label Debian) if the lists are there, else by the folder that every mirror
    calls `debian`; a source of the wanted suite goes first.
    """
    fields = ["RELEASE", "ORIGIN", "LABEL", "REPO_URI"]
    filters = ["Created-By: Packages", f"Component: {COMPONENT}"]
    found = index_targets([], fields, *filters) or index_targets([], fields, "--no-release-info", *filters)

    def is_debian(row):
        _, origin, label, uri = row
        known = origin and not origin.startswith("$")  # apt leaves `$(ORIGIN)` where it has no Release file
        return (origin, label) == ("Debian", "Debian") if known else uri.rstrip("/").endswith("/debian")

    mirrors = [(release != SUITE, uri) for release, _, _, uri in filter(is_debian, found)]
    if not mirrors:
        raise BuildError("apt on this machine has no Debian mirror: name one with --mirror URL")
    return min(mirrors, key=lambda row: row[0])[1]


def download(mirror):
    """Fetches both indices through a private list folder with one source."""
    with tempfile.TemporaryDirectory(prefix="debian-packages-") as scratch:
        folder = pathlib.Path(scratch)
        folder.chmod(0o755)  # apt reads and writes below it as another user
        lists = folder / "lists"
        (lists / "partial").mkdir(parents=True)
        signed = f" signed-by={KEYRING}" if KEYRING.exists() else ""
        source = folder / "private.list"
        source.write_text(
            f"deb [arch={ARCHITECTURE} target=Packages,Translations{signed}] {mirror} {SUITE} {COMPONENT}\n"
        )
        settings = {
            "Dir::State::Lists": lists,
            "Dir::Etc::SourceList": source,
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Cache": folder,
            "Acquire::Languages": "en",
            "APT::Architecture": ARCHITECTURE,
            "APT::Update::Error-Mode": "any",  # a mirror that does not answer is an error, not a warning
        }
        options = [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]
        run(["apt-get", *options, "update"])
        packages, version = one_target(options, "Packages")
        translation, _ = one_target(options, "Translations")
        release = next((p for p in sorted(lists.iterdir()) if p.name.endswith("Release")), None)
        date = re.search(r"^Date: *(.+)$", release.read_text(), re.M) if release else None
        return Indices(cat_file(packages), cat_file(translation), version, date and date.group(1).strip())


def one_target(options, created_by):
    """(path, release version) of the one index of this kind in the private list folder."""
    rows = index_targets(options, ["FILENAME", "VERSION"], f"Created-By: {created_by}")
    if len(rows) != 1:
        raise BuildError(f"the mirror gave {len(rows)} indices of kind {created_by}, wanted 1: is {SUITE} there?")
    return rows[0]


def cat_file(path):
    """Bytes of an index file that apt stored, whatever its compression."""
    return run([APT_HELPER, "cat-file", str(path)])


def read_given(path):
    """Bytes of an index file the user named: plain, .gz, .xz, .bz2, or anything else apt can read."""
    openers = {"": open, ".txt": open, ".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    opener = openers.get(pathlib.Path(path).suffix)
    try:
        with open(path, "rb"):
            pass
        if opener is None:
            return cat_file(os.path.abspath(path))
        with opener(path, "rb") as file:
            return file.read()
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BuildError(f"cannot read {path}: {error}") from None


def as_text(data):
    """One character per byte, so that string order is byte order and lower-casing makes no new ASCII letters."""
    return data.decode("latin-1")


# ---------------------------------------------------------------- paragraphs


def paragraphs(text, where):
    """The paragraphs of an index: dictionaries of lower-case field name to value, continuation lines joined by \\n."""
    fields, last = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            if fields:
                yield fields
            fields, last = {}, None
        elif line[0] in " \t":
            if last is None:
                raise BuildError(f"{where}:{number}: continuation line without a field")
            fields[last] += "\n" + line[1:]
        else:
            key, colon, value = line.partition(":")
            if not colon:
                raise BuildError(f"{where}:{number}: neither `Field: value` nor a continuation line")
            last = key.lower()
            fields[last] = value.strip()
    if fields:
        yield fields


def read_packages(text, where="Packages"):
    """Rule 1: name to paragraph in byte order of the names; the later of two paragraphs of one name wins."""
    by_name = {}
    for fields in paragraphs(text, where):
        if "package" not in fields:
            raise BuildError(f"{where}: paragraph {len(by_name) + 1} has no Package field")
        by_name[fields["package"]] = fields
    if not by_name:
        raise BuildError(f"{where}: no package in it")
    return {name: by_name[name] for name in sorted(by_name)}


def read_descriptions(text, where="Translation-en"):
    """Description-md5 to the English text, short and long."""
    return {
        fields["description-md5"]: fields.get("description-en", "")
        for fields in paragraphs(text, where)
        if "description-md5" in fields
    }


# ---------------------------------------------------------------- graph


def related(value):
    """Names in a relation field: every alternative, without version, architecture, brackets."""
    for alternative in re.split(r"[,|]", value):
        name = PACKAGE_NAME.match(alternative.strip())
        if name:
            yield name.group()


def sole_providers(packages):
    """Virtual name to the one package that provides it; names of several providers are left out."""
    providers = collections.defaultdict(set)
    for name, fields in packages.items():
        for virtual in related(fields.get("provides", "")):
            providers[virtual].add(name)
    return {virtual: min(names) for virtual, names in providers.items() if len(names) == 1}


def find_pairs(packages):
    """Rule 2: sorted list of pairs (u, v), u < v, of node numbers."""
    number = {name: i for i, name in enumerate(packages)}
    provider = sole_providers(packages)
    pairs = set()
    for name, fields in packages.items():
        u = number[name]
        for relation in RELATIONS:
            for other in related(fields.get(relation, "")):
                v = number.get(other if other in number else provider.get(other))
                if v is not None and v != u:
                    pairs.add((min(u, v), max(u, v)))
    return sorted(pairs)


# ---------------------------------------------------------------- words


def words_of(text):
    """The set of words of a text: maximal runs of ASCII letters of 3 to 20, lower-cased."""
    return {word for word in WORD.findall(text.lower()) if len(word) in WORD_LENGTHS}


def find_words(packages, descriptions):
    """Rule 3: (vocabulary in byte order, for every node its ascending word numbers)."""
    if not any(fields.get("description-md5") in descriptions for fields in packages.values()):
        raise BuildError("no package has its description in the translation: is it of the same release?")
    texts = [
        words_of(descriptions.get(fields.get("description-md5"), fields.get("description", "")))
        for fields in packages.values()
    ]
    documents = collections.Counter(word for words in texts for word in words)
    vocabulary = sorted(
        word
        for word, count in documents.items()
        if MIN_DOCUMENTS <= count and count * MAX_SHARE <= len(texts) and word not in CLASS_WORDS
    )
    number = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, [sorted(number[word] for word in words if word in number) for words in texts]


# ---------------------------------------------------------------- labels and split


def class_of(section):
    """Rule 4: class of an archive section (`contrib/libs` counts as `libs`), or -1."""
    return CLASS_OF_SECTION.get(section.rpartition("/")[2], -1)


def source_of(name, fields):
    """Name of the source package: first word of Source, else the package itself."""
    return (fields.get("source", "").split() or [name])[0]


def family_of(source):
    """Rule 5: what sources of one origin share, so that siblings stay on one side of the split."""
    before_digit = re.match("[^0-9]*", PORT_SUFFIX.sub("", source)).group()
    return re.sub(r"[-.+]+$", "", before_digit) or source


def side_of(family):
    """Side of the split a family is on: a keyed hash, so that it depends on nothing but the name."""
    digest = hashlib.sha256((SPLIT_KEY + family).encode("latin-1")).digest()
    bucket = int.from_bytes(digest[:8], "big") % 100
    return "train" if bucket < 20 else "val" if bucket < 30 else "test"


def find_split(families, labels):
    """For every node train, val, test or None (no class, or a family of more than 200 packages)."""
    size = collections.Counter(families)
    return [
        side_of(family) if label >= 0 and size[family] <= LARGE_FAMILY else None
        for family, label in zip(families, labels)
    ]


# ---------------------------------------------------------------- counts


def components(nodes, pairs):
    """Sizes of the connected components."""
    parent = list(range(nodes))

    def root(i):
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    for u, v in pairs:
        parent[root(u)] = root(v)
    return collections.Counter(map(root, range(nodes)))


def count(pairs, rows, vocabulary, labels, split):
    """What `sapwood data show` prints of the finished folder."""
    nodes = len(labels)
    degree = collections.Counter(end for pair in pairs for end in pair)
    parts = components(nodes, pairs)
    sizes = collections.Counter(labels)
    labelled = [labels[u] == labels[v] for u, v in pairs if labels[u] >= 0 and labels[v] >= 0]
    sides = collections.Counter(split)
    return {
        "nodes": nodes,
        "pairs": len(pairs),
        "directed": False,
        "weighted": False,
        "self_loops": 0,
        "isolated": nodes - len(degree),
        "components": len(parts),
        "largest": max(parts.values()),
        "max_degree": max(degree.values(), default=0),
        "classes": len(CLASSES),
        "class_sizes": [sizes[c] for c in range(len(CLASSES))],
        "unlabelled": sizes[-1],
        "features": len(vocabulary),
        "feature_entries": sum(map(len, rows)),
        "empty_rows": sum(not row for row in rows),
        "homophily": sum(labelled) / len(labelled) if labelled else None,
        "splits": [{"name": "public", **{side: sides[side] for side in ("train", "val", "test")}}],
    }


# ---------------------------------------------------------------- files


def compress(path):
    """path to path.zst, with a checksum inside, and removes path."""
    run(["zstd", "-19", "--check", "-T1", "-q", "--rm", str(path)])
    return path.with_name(path.name + ".zst")


def digest(data):
    return hashlib.sha256(data).hexdigest()


def table(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def fill(readme, heading, value):
    """The README with the JSON block below `## heading` replaced."""
    block = re.compile(rf"(^## {re.escape(heading)}\n(?:(?!^## ).*\n)*?```json\n)(?:.*\n)*?(```$)", re.M)
    text, found = block.subn(lambda m: m.group(1) + json_lines(value) + "\n" + m.group(2), readme)
    if found != 1:
        raise BuildError(f"README.md has no ```json block below `## {heading}`")
    return text


def json_lines(value):
    """One object, one member a line, so that a change shows as the line it changed."""
    members = ",\n".join(f"  {json.dumps(key)}: {json.dumps(member)}" for key, member in value.items())
    return "{\n" + members + "\n}"


def build(indices, out, readme):
    """Writes the whole folder `out` from the two indices; returns the counts."""
    packages = read_packages(as_text(indices.packages))
    pairs = find_pairs(packages)
    vocabulary, rows = find_words(packages, read_descriptions(as_text(indices.translation)))
    labels = [class_of(fields.get("section", "")) for fields in packages.values()]
    sources = [source_of(name, fields) for name, fields in packages.items()]
    families = [family_of(source) for source in sources]
    split = find_split(families, labels)
    counts = count(pairs, rows, vocabulary, labels, split)
    texts = {
        "edges.tsv": table(pairs),
        "words.tsv": "".join(" ".join(map(str, row)) + "\n" for row in rows),
        "words.txt": "".join(word + "\n" for word in vocabulary),
        "labels.tsv": table(enumerate(labels)),
        "split.tsv": table((node, side) for node, side in enumerate(split) if side),
        "classes.tsv": table((i, name, sections) for i, (name, sections) in enumerate(CLASSES)),
    }
    origin = {
        "suite": SUITE,
        "component": COMPONENT,
        "architecture": ARCHITECTURE,
        "version": indices.version,
        "date": indices.date,
        "packages_sha256": digest(indices.packages),
        "translation_sha256": digest(indices.translation),
        "sources": len(set(sources)),
        "families": len(set(families)),
    }
    write_folder(out, texts, lambda files: fill(fill(fill(readme, "Origin", origin), "Counts", counts), "Files", files))
    return counts


def write_folder(out, texts, readme_of):
    """All files of the set at once: made beside their place, then renamed into it."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=out) as scratch:
        made, files = [], {}
        for name, text in texts.items():
            plain = pathlib.Path(scratch) / name
            plain.write_bytes(text.encode("ascii"))
            stored = plain if name == "classes.tsv" else compress(plain)
            made.append(stored)
            data = stored.read_bytes()
            digests = {"sha256": digest(data), "plain_sha256": digest(text.encode())}
            files[stored.name] = {"size_bytes": len(data), **digests}
        readme = pathlib.Path(scratch) / "README.md"
        readme.write_text(readme_of(files), encoding="utf-8")
        for path in [*made, readme]:
            os.replace(path, out / path.name)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", required=True, metavar="DIR", type=pathlib.Path, help="folder to write")
    parser.add_argument("--mirror", metavar="URL", help="Debian mirror (default: the one apt here is set up with)")
    parser.add_argument("--packages", metavar="FILE", help="a Packages index at hand instead of a mirror")
    parser.add_argument("--translation", metavar="FILE", help="the Translation-en index that belongs to it")
    given = parser.parse_args(arguments)
    if (given.packages is None) != (given.translation is None):
        parser.error("--packages and --translation go together")
    if given.packages and given.mirror:
        parser.error("--mirror beside --packages: choose one")
    try:
        if shutil.which("zstd") is None:
            raise BuildError("program not found: zstd")
        if given.packages:
            indices = Indices(read_given(given.packages), read_given(given.translation), None, None)
        else:
            indices = download(given.mirror or apt_mirror())
        readme = pathlib.Path(__file__).with_name("README.md").read_text(encoding="utf-8")
        counts = build(indices, given.out, readme)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(f"{given.out}: {counts['nodes']} nodes, {counts['pairs']} pairs, {counts['features']} words")
    return 0


if __name__ == "__main__":
    sys.exit(main())
