"""Checks the rules of `build.py` on hand-made indices, and that the files beside it are the ones README.md tells of.

    python3 -m unittest test_build.py
"""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import build

HERE = pathlib.Path(__file__).resolve().parent


def packages(*paragraphs):
    return build.read_packages("\n\n".join(paragraphs) + "\n")


def pairs(*paragraphs):
    """Edges by name, so that a test reads without counting nodes."""
    nodes = packages(*paragraphs)
    names = list(nodes)
    return {(names[u], names[v]) for u, v in build.find_pairs(nodes)}


def block(readme, heading):
    section = readme.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return json.loads(section.split("```json\n")[1].split("```")[0])


class Nodes(unittest.TestCase):
    def test_byte_order_of_names(self):
        nodes = packages("Package: b", "Package: a.c", "Package: a-c", "Package: a", "Package: 0ad", "Package: a+c")
        self.assertEqual(list(nodes), ["0ad", "a", "a+c", "a-c", "a.c", "b"])

    def test_later_paragraph_wins(self):
        old, new = "Package: a\nSection: libs\nDepends: x", "Package: a\nSection: doc\nDepends: y"
        text = [old, "Package: x", "Package: y", new]
        self.assertEqual(packages(*text)["a"]["section"], "doc")
        self.assertEqual(pairs(*text), {("a", "y")})

    def test_field_names_in_any_case_and_continuation_lines(self):
        nodes = packages("package: a\nDEPENDS: b,\n c", "Package: b", "Package: c")
        self.assertEqual(nodes["a"]["depends"], "b,\nc")
        self.assertEqual(build.find_pairs(nodes), [(0, 1), (0, 2)])

    def test_refused(self):
        for text, message in [
            ("", "no package"),
            ("Section: libs\n", "no Package field"),
            ("Package: a\nnonsense\n", "Packages:2: neither"),
            (" text\n", "Packages:1: continuation"),
        ]:
            with self.subTest(text=text), self.assertRaisesRegex(build.BuildError, message):
                build.read_packages(text)


class Edges(unittest.TestCase):
    def test_four_fields_and_no_others(self):
        fields = ["Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances", "Breaks", "Conflicts", "Replaces"]
        text = "Package: a\n" + "\n".join(f"{field}: {field.lower()}" for field in fields)
        others = [f"Package: {field.lower()}" for field in fields]
        self.assertEqual({v for _, v in pairs(text, *others)}, {"depends", "pre-depends", "recommends", "suggests"})

    def test_every_alternative(self):
        self.assertEqual(
            pairs("Package: a\nDepends: b | c|d, e", *(f"Package: {n}" for n in "bcde")),
            {("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")},
        )

    def test_version_architecture_and_brackets_are_stripped(self):
        value = "b (>= 1.2), c:any (= 1), d [amd64 !i386], e<!nocheck>, libstdc++6(>=4), g-1.0:amd64"
        found = list(build.related(value))
        self.assertEqual(found, ["b", "c", "d", "e", "libstdc++6", "g-1.0"])
        self.assertEqual(list(build.related("")), [])
        self.assertEqual(list(build.related("${misc:Depends}, , x")), ["x"])

    def test_sole_provider_stands_in(self):
        text = ["Package: a\nDepends: virtual", "Package: p\nProvides: other, virtual (= 1.0)"]
        self.assertEqual(pairs(*text), {("a", "p")})
        self.assertEqual(pairs(*text, "Package: q\nProvides: virtual"), set())

    def test_one_package_providing_twice_is_one_provider(self):
        self.assertEqual(pairs("Package: a\nDepends: v", "Package: p\nProvides: v (= 1), v (= 2)"), {("a", "p")})

    def test_a_real_package_is_not_replaced_by_its_provider(self):
        text = ["Package: a\nDepends: b", "Package: b", "Package: p\nProvides: b"]
        self.assertEqual(pairs(*text), {("a", "b")})

    def test_provides_of_an_overwritten_paragraph_do_not_count(self):
        text = ["Package: p\nProvides: v", "Package: p", "Package: q\nProvides: v", "Package: a\nDepends: v"]
        self.assertEqual(pairs(*text), {("a", "q")})

    def test_simple_graph(self):
        text = ["Package: a\nDepends: a, b, v, gone\nSuggests: b\nProvides: v", "Package: b\nRecommends: a"]
        self.assertEqual(pairs(*text), {("a", "b")})


class Words(unittest.TestCase):
    def test_words_of_a_text(self):
        text = "The GNU/Linux x86-64 e-mail tool; it's naïve. " + "a" * 20 + " " + "b" * 21 + " zlib1g"
        self.assertEqual(
            build.words_of(build.as_text(text.encode())), {"the", "gnu", "linux", "mail", "tool", "zlib", "a" * 20}
        )

    def test_frequency_bounds_and_class_words(self):
        # n = 110: a word needs 20 documents and may have 22
        share = {"toofew": 19, "enough": 20, "most": 22, "toomany": 23, "python": 21, "pythonic": 21, "libs": 20}
        text = [f"Package: p{i:03}\nDescription-md5: {i}\nDescription: short" for i in range(110)]
        long = {str(i): " ".join(w for w, n in share.items() for _ in (0, 1) if i < n) for i in range(110)}
        vocabulary, rows = build.find_words(packages(*text), long)
        self.assertEqual(vocabulary, ["enough", "most", "pythonic"])
        self.assertEqual([rows[i] for i in (0, 19, 20, 21, 22)], [[0, 1, 2], [0, 1, 2], [1, 2], [1], []])

    def test_description_by_digest_else_own_field(self):
        translation = build.read_descriptions(
            "Package: other\nDescription-md5: d1\nDescription-en: short words\n Long words\n .\n more words\n"
        )
        self.assertEqual(translation["d1"], "short words\nLong words\n.\nmore words")
        text = ["Package: a\nDescription-md5: d1\nDescription: own"] + [
            f"Package: b{i:03}\nDescription-md5: none\nDescription: {'fallback' if i < 20 else 'x'}" for i in range(119)
        ]
        vocabulary, rows = build.find_words(packages(*text), translation)
        self.assertEqual((vocabulary, rows[0], rows[1]), (["fallback"], [], [0]))

    def test_translation_of_another_release_is_refused(self):
        with self.assertRaisesRegex(build.BuildError, "same release"):
            build.find_words(packages("Package: a\nDescription-md5: d1"), {"d2": "text"})

    def test_class_words_are_removed(self):
        words = (
            "bioconductor cargo cli cpan cran crate crates debcargo devel development doc docs documentation game games"
            " gcc gem gems ghc golang haskell header headers jar java javadoc javascript lib libraries library libs lisp"
            " mono node nodejs ocaml pear pecl perl php python ruby rubygem rust static"
        )
        text = [f"Package: p{i:03}\nDescription-md5: {i}" for i in range(100)]
        translation = {str(i): f"{words} kept" if i < 20 else "" for i in range(100)}
        self.assertEqual(build.find_words(packages(*text), translation)[0], ["kept"])


class Labels(unittest.TestCase):
    def test_sections(self):
        for section, label in [
            ("libs", 0), ("contrib/libs", 0), ("non-free/games", 19), ("vcs", 2), ("cli-mono", 14), ("hamradio", 15),
            ("fonts", 21), ("misc", -1), ("contrib/misc", -1), ("oldlibs", -1), ("tasks", -1), ("", -1), ("libs/x", -1),
        ]:
            with self.subTest(section=section):
                self.assertEqual(build.class_of(section), label)

    def test_twenty_two_classes_without_a_shared_section(self):
        sections = [s for _, group in build.CLASSES for s in group.split()]
        self.assertEqual((len(build.CLASSES), len(sections)), (22, len(set(sections))))


class Split(unittest.TestCase):
    def test_source(self):
        self.assertEqual(build.source_of("a", {"source": "src (1.2-3)"}), "src")
        self.assertEqual(build.source_of("a", {"source": ""}), "a")
        self.assertEqual(build.source_of("a", {}), "a")

    def test_family(self):
        for source, family in [
            ("gcc-12-cross-ports", "gcc"), ("gcc-11-cross-mipsen", "gcc"), ("gcc-defaults-ports", "gcc-defaults"),
            ("linux", "linux"), ("linux-6.1", "linux"), ("python3.11", "python"), ("llvm-toolchain-14", "llvm-toolchain"),
            ("0ad", "0ad"), ("3dchess", "3dchess"), ("7zip-cross", "7zip-cross"), ("gtk+3.0", "gtk"), ("g++-12", "g"),
            ("memtest86+", "memtest"), ("qt6-base", "qt"), ("cross-toolchain", "cross-toolchain"), ("portsmf", "portsmf"),
        ]:
            with self.subTest(source=source):
                self.assertEqual(build.family_of(source), family)

    def test_side_is_the_keyed_hash(self):
        for family in ["gcc", "linux", "0ad", "tasksel", "r-cran-zoo", "gtk"]:
            bucket = int(hashlib.sha256(f"sapwood-split-1:{family}".encode()).hexdigest()[:16], 16) % 100
            self.assertEqual(build.side_of(family), "train" if bucket < 20 else "val" if bucket < 30 else "test", family)
        sides = [build.side_of(f"family{i}") for i in range(10_000)]
        for side, share in [("train", 0.2), ("val", 0.1), ("test", 0.7)]:
            self.assertAlmostEqual(sides.count(side) / 10_000, share, delta=0.02)

    def test_unlabelled_nodes_and_large_families_are_on_no_side(self):
        families = ["big"] * 201 + ["full"] * 200 + ["x"]
        split = build.find_split(families, [3] * 401 + [-1])
        self.assertEqual(split, [None] * 201 + [build.side_of("full")] * 200 + [None])
        # a family is as large as all its packages, labelled or not
        self.assertEqual(set(build.find_split(["big"] * 201, [3] + [-1] * 200)), {None})


class Counts(unittest.TestCase):
    def test_small_graph(self):
        # triangle 0-1-2, pair 3-4, alone 5; labels a a b, a -, -
        counts = build.count(
            [(0, 1), (0, 2), (1, 2), (3, 4)], [[0], [], [0, 1], [], [1], []], ["u", "v"],
            [0, 0, 1, 0, -1, -1], ["train", "val", "test", "test", None, None],
        )
        self.assertEqual(
            {k: counts[k] for k in ("nodes", "pairs", "isolated", "components", "largest", "max_degree", "unlabelled")},
            {"nodes": 6, "pairs": 4, "isolated": 1, "components": 3, "largest": 3, "max_degree": 2, "unlabelled": 2},
        )
        self.assertEqual((counts["features"], counts["feature_entries"], counts["empty_rows"]), (2, 4, 3))
        self.assertEqual((counts["class_sizes"][:3], counts["homophily"]), ([3, 1, 0], 1 / 3))
        self.assertEqual(counts["splits"], [{"name": "public", "train": 1, "val": 1, "test": 2}])


@unittest.skipUnless(shutil.which("zstd"), "needs zstd")
class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name) / "set"
        text = "\n\n".join(
            f"Package: p{i:03}\nSection: {'games' if i % 2 else 'misc'}\nDescription-md5: {i}\nDepends: p{i // 2:03}"
            for i in range(120)
        )
        translation = "\n\n".join(
            f"Description-md5: {i}\nDescription-en: {'castle' if i % 6 == 0 else 'x'}" for i in range(120)
        )
        self.indices = build.Indices(text.encode(), translation.encode(), "12.15", "today")
        self.readme = (HERE / "README.md").read_text(encoding="utf-8")

    def plain(self, name):
        return subprocess.run(["zstd", "-dcq", self.out / name], check=True, capture_output=True).stdout

    def test_files_and_readme_agree(self):
        counts = build.build(self.indices, self.out, self.readme)
        readme = (self.out / "README.md").read_text(encoding="utf-8")
        self.assertEqual(block(readme, "Counts"), counts)
        self.assertEqual(block(readme, "Origin")["packages_sha256"], hashlib.sha256(self.indices.packages).hexdigest())
        files = block(readme, "Files")
        self.assertEqual({p.name for p in self.out.iterdir()}, set(files) | {"README.md"})
        for name, facts in files.items():
            plain = self.plain(name) if name.endswith(".zst") else (self.out / name).read_bytes()
            self.assertEqual(facts["plain_sha256"], hashlib.sha256(plain).hexdigest(), name)
        self.assertEqual(self.plain("edges.tsv.zst").splitlines()[:3], [b"0\t1", b"1\t2", b"1\t3"])
        self.assertEqual(self.plain("words.txt.zst"), b"castle\n")
        self.assertEqual(self.plain("words.tsv.zst").split(b"\n")[:7], [b"0", b"", b"", b"", b"", b"", b"0"])
        self.assertEqual(self.plain("labels.tsv.zst").splitlines()[:2], [b"0\t-1", b"1\t19"])
        self.assertEqual(len(self.plain("split.tsv.zst").splitlines()), 60)

    def test_same_bytes_twice(self):
        build.build(self.indices, self.out, self.readme)
        first = {p.name: p.read_bytes() for p in self.out.iterdir()}
        build.build(self.indices, self.out, self.readme)
        self.assertEqual({p.name: p.read_bytes() for p in self.out.iterdir()}, first)

    def test_a_failing_build_changes_nothing(self):
        build.build(self.indices, self.out, self.readme)
        before = {p.name: p.read_bytes() for p in self.out.iterdir()}
        with self.assertRaisesRegex(build.BuildError, "## Origin"):
            build.build(self.indices._replace(version="13.0"), self.out, self.readme.replace("## Origin", "## Other"))
        self.assertEqual({p.name: p.read_bytes() for p in self.out.iterdir()}, before)


class Committed(unittest.TestCase):
    readme = (HERE / "README.md").read_text(encoding="utf-8")

    def test_files_are_the_ones_of_the_readme(self):
        files = block(self.readme, "Files")
        for name, facts in files.items():
            data = (HERE / name).read_bytes()
            self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (facts["size_bytes"], facts["sha256"]), name)
        self.assertLessEqual(sum(facts["size_bytes"] for facts in files.values()), 4_000_000)

    def test_classes(self):
        rows = [line.split("\t") for line in (HERE / "classes.tsv").read_text().splitlines()]
        self.assertEqual(rows, [[str(i), *group] for i, group in enumerate(build.CLASSES)])

    def test_counts_add_up(self):
        counts = block(self.readme, "Counts")
        self.assertEqual(sum(counts["class_sizes"]) + counts["unlabelled"], counts["nodes"])
        self.assertEqual(len(counts["class_sizes"]), counts["classes"])

    def test_no_host_is_named(self):
        script = (HERE / "build.py").read_text()
        self.assertEqual(re.findall(r"(?:https?|ftp)://\S+|debian\.org", script + self.readme), [])


if __name__ == "__main__":
    unittest.main()
