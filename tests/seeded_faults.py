"""Faults seeded into copies of the two real question files: what is changed, and the rule that has to find it.

`UV` and `PG` were written before the rules; `HELD_OUT` after them, to see how well the rules do on what they had not
seen; `BLIND` by somebody who had not read the rules. `UNUSUAL` are sound questions in unusual words, in place of what
the file asks: no rule may name one for them. A fault changes one question, or the pages; the rule has to name that
question.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Sample = dict[str, Any]
Texts = dict[str, str]
Change = Callable[[dict[str, Sample], Texts], None]

PROVENANCE = {"author": "A. Writer", "created": "2026-11-30", "reviewedBy": "B. Reader", "derivedFromSystem": False}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One seeded fault: `rule` has to name `question` after `change` was made.

    `beside` are questions that it needs as they were; `whole` is true of a fault that touches every question.
    """

    rule: str
    question: str
    change: Change
    beside: tuple[str, ...] = ()
    whole: bool = False


def grouped(faults: Sequence[Fault]) -> list[list[Fault]]:
    """Return faults in groups that can be seeded into one copy, because they do not meet."""
    groups: list[list[Fault]] = []
    for fault in faults:
        for group in groups:
            if not any(_meet(fault, other) for other in group):
                group.append(fault)
                break
        else:
            groups.append([fault])
    return groups


def seeded(faults: Sequence[Fault], value: Mapping[str, Any], pages: Mapping[str, str]) -> tuple[dict[str, Any], Texts]:
    """Return a copy of a question file's value and of its pages' texts with the faults in them."""
    made, texts = copy.deepcopy(dict(value)), dict(pages)
    for fault in sorted(faults, key=lambda fault: not fault.whole):
        fault.change({sample["id"]: sample for sample in made["samples"]}, texts)
    return made, texts


def _meet(one: Fault, other: Fault) -> bool:
    return (one.whole and other.whole) or bool({one.question, *one.beside} & {other.question, *other.beside})


def put(rule: str, question: str, *, beside: tuple[str, ...] = (), **fields: Any) -> Fault:
    """Return the fault of a question whose keys have other values; None takes a key away."""

    def change(samples: dict[str, Sample], texts: Texts) -> None:
        for key, value in fields.items():
            if value is None:
                del samples[question][key]
            else:
                samples[question][key] = value

    return Fault(rule=rule, question=question, change=change, beside=beside)


def append(rule: str, question: str, page: str, text: str) -> Fault:
    """Return the fault of a question for which a page says more than it did."""

    def change(samples: dict[str, Sample], texts: Texts) -> None:
        texts[page] += f"\n\n{text}\n"

    return Fault(rule=rule, question=question, change=change)


def signed(rule: str, question: str, **fields: Any) -> Fault:
    """Return the fault of a set in which all questions have a sound provenance but one."""

    def change(samples: dict[str, Sample], texts: Texts) -> None:
        for sample in samples.values():
            sample["provenance"] = dict(PROVENANCE)
        changed = {**PROVENANCE, **fields}
        samples[question]["provenance"] = {key: value for key, value in changed.items() if value is not None}

    return Fault(rule=rule, question=question, change=change, whole=True)


def claim(text: str, *must: str, central: bool = True, must_not: tuple[str, ...] = ()) -> Sample:
    """Return a claim, each of `must` a list of one literal."""
    return {"text": text, "central": central, "must": [[one] for one in must], "must_not": list(must_not)}


def _tidy_page(samples: dict[str, Sample], texts: Texts) -> None:
    samples["A-024"]["evidence"] = texts["brin-intro.html"][:6000]


def _more_claims(question: str, *claims: Sample) -> Change:
    def change(samples: dict[str, Sample], texts: Texts) -> None:
        samples[question]["claims"] = [*samples[question]["claims"], *claims]

    return change


def _one_claim_less(question: str) -> Change:
    def change(samples: dict[str, Sample], texts: Texts) -> None:
        samples[question]["claims"] = samples[question]["claims"][:-1]

    return change


UV: tuple[Fault, ...] = (
    put("deictic", "B-000", input="Which cryptography provider does this page say uv combines with rustls?"),
    put(
        "deictic",
        "B-006",
        input="Which Docker Compose version does the uv feature described above require, and which Docker Desktop "
        "release bundles it?",
    ),
    put(
        "deictic", "B-052", input="According to the following section, what limits AWS Lambda zip archives of uv apps?"
    ),
    put("deictic", "B-038", target="From ./pyproject.toml in the current directory, as shown above."),
    put(
        "pronoun", "B-024", input="In what mode does it install dependencies between members of the same uv workspace?"
    ),
    put("unnamed", "B-020", input="In which AWS region does the author run the Coiled script example of uv?"),
    put("time-deictic", "B-048", input="Which marker file did uv init --lib start to include last week?"),
    put("subject", "B-026", input="Which setting at the root is appended to the build constraints file?"),
    put(
        "subject",
        "B-002",
        input="How long do the commands wait by default for other processes to terminate, and which environment "
        "variable changes that?",
    ),
    put(
        "several-asked",
        "B-034",
        input="Which environment variable overrides the directory in which uv stores executables of its managed Python "
        "versions, and which one overrides the directory of the cache?",
    ),
    put(
        "no-question",
        "B-016",
        input="Which Debian package does uv's troubleshooting guide say to install when building pygraphviz fails with "
        "a missing graphviz/cgraph.h",
    ),
    put(
        "yes-no",
        "B-042",
        input="Does the Python implementation Pyston have only Tier 3 support in uv?",
        target="Yes, Pyston has only Tier 3 support.",
    ),
    put(
        "target-long",
        "B-022",
        target="Packages with URLs (including file and git) have the highest priority, because uv's resolver has to "
        "choose some package first among all those that are not decided yet and wants to find conflicts early, and "
        "roughly after those it takes packages with more exact specifiers such as two equals signs, then those with "
        "less exact ones, and then whatever is left, in the order in which the resolver saw the packages while it "
        "read the requirements of the project, of its workspace members and of their dependencies, each at its turn, "
        "until nothing is left that would have to be decided.",
    ),
    put(
        "key-literal",
        "B-028",
        target="Never newer than N-3.",
        claims=[claim("It is never newer than N-3.", "N-3")],
    ),
    Fault(
        rule="claim-beyond-target",
        question="B-046",
        change=_more_claims("B-046", {"text": "--pull refreshes the base image.", "central": False, "must": []}),
    ),
    put(
        "question-answers",
        "B-054",
        input="Which hook id of astral-sh/uv-pre-commit, such as uv-export, keeps a requirements.txt file in sync with "
        "uv.lock?",
    ),
    put(
        "answer-in-question",
        "B-024",
        input="In what editable mode are dependencies between members of the same uv workspace installed?",
        claims=None,
    ),
    put("evidence-missing", "B-040", evidence="# Intel GPU support depends on `triton-xpu`, which should also be"),
    put("evidence-elsewhere", "B-030", page="concepts/projects/sync.md"),
    append(
        "evidence-repeats",
        "B-032",
        "getting-started/help.md",
        "$ uv -V # Will not include the build commit and date",
    ),
    put(
        "passage-shared",
        "B-056",
        beside=("B-054",),
        page="guides/integration/pre-commit.md",
        input="Which hook of uv's pre-commit repository exports uv.lock to a requirements file?",
        target="uv-export.",
        evidence="rev: 0.12.5 hooks: - id: uv-export",
        claims=[claim("The hook is uv-export.", "uv-export")],
    ),
    put("evidence-short", "B-042", evidence="Pyston"),
    put(
        "near-duplicate",
        "B-032",
        beside=("B-030",),
        input="Which custom property does uv add to CycloneDX components in order to hold the relative paths of its "
        "workspace members?",
    ),
    put(
        "answer-type",
        "B-008",
        target="The unmanaged one.",
        evidence="The use of `UV_UNMANAGED_INSTALL` will also disable self-updates (via `uv self update`).",
        claims=[claim("It is the unmanaged one.", "unmanaged")],
    ),
    put(
        "answer-count",
        "B-012",
        target="PyPy and GraalPy.",
        claims=[claim("Upgrades are not supported for PyPy and GraalPy.", "PyPy", "GraalPy")],
    ),
    signed("author-missing", "B-036", author=None),
    signed("derived-from-system", "B-044", derivedFromSystem=True),
    put("untidy", "B-058", input="By default,  from what does uv build create the wheel?  "),
    put("placeholder", "B-014", target="So that the publishing step's permissions are not shared. TODO: check"),
    put("evidence-none", "B-010", evidence=None),
)

PG: tuple[Fault, ...] = (
    put(
        "deictic",
        "A-038",
        input="Which Linux sysctl parameter is listed here as raising the maximum socket connection queue length of a "
        "PostgreSQL server?",
    ),
    put("deictic", "A-028", input="Which default weights does the example show for PostgreSQL's ts_rank?"),
    put(
        "deictic",
        "A-022",
        input="Which SQLSTATE code is assigned to invalid_argument_for_width_bucket_function in the table below?",
    ),
    put("pronoun", "A-034", input="Why does he not permit PQsendQuery in libpq's pipeline mode?"),
    put(
        "unnamed",
        "A-054",
        input="Which function do the speakers recommend, rather than self-joining pg_locks, for finding which "
        "processes block a waiting one?",
    ),
    put("unnamed", "A-020", input="What event were the speakers attending last night?"),
    put(
        "time-deictic",
        "A-026",
        input="What is the default of PostgreSQL's autovacuum_multixact_freeze_max_age nowadays?",
    ),
    put("subject", "A-002", input="How many characters is the shared secret recommended to have at least?"),
    put("subject", "A-050", input="When statements are sampled, how are nested statements handled?"),
    put("subject", "A-042", input="By default, how many objects at most are removed per transaction?"),
    put(
        "several-asked",
        "A-006",
        input="In PostgreSQL's ltree extension, what is the maximum number of labels in a label path? How long may one "
        "label be?",
    ),
    put(
        "several-asked",
        "A-038",
        input="Which Linux sysctl parameter raises the maximum socket connection queue length, according to "
        "PostgreSQL's documentation, and also what is it called on macOS?",
    ),
    put(
        "no-question",
        "A-058",
        input="Under PostgreSQL's automatic plan choice for prepared statements, how many initial executions use "
        "custom plans.",
    ),
    put("no-question", "A-032", input="Tell me how many columns a result set can have at most in PostgreSQL 15."),
    put(
        "multiple-choice",
        "A-014",
        input="Which of these severity levels does PL/pgSQL's RAISE statement use by default: (a) NOTICE, (b) WARNING "
        "or (c) EXCEPTION?",
    ),
    put("negated", "A-012", input="Which setting of PostgreSQL's composite_type_mismatch does NOT perform the check?"),
    put(
        "target-restates",
        "A-044",
        target="In a POSIX time zone specification in PostgreSQL, a positive offset sign denotes zones which are on "
        "the west side of Greenwich.",
    ),
    put(
        "key-literal",
        "A-056",
        target="19 digits for float8 and 9 for float4.",
        claims=[claim("float8 values use at most 19 digits.", "19"), claim("float4 values: at most 9.", "9")],
    ),
    put(
        "target-unfounded",
        "A-024",
        target="The request is not recorded, a message goes to the server log, and SQLSTATE 53400 is raised.",
    ),
    Fault(rule="target-uncovered", question="A-016", change=_one_claim_less("A-016")),
    put("target-fails", "A-036", claims=[claim("Strings may have at most 255 characters.", "256")]),
    put(
        "must-not-hits",
        "A-030",
        claims=[claim("It degenerates to a full-index scan.", "full-index scan", must_not=("index scan",))],
    ),
    put("evidence-missing", "A-032", evidence="columns in a result set 1,665 field size 1 GB"),
    append(
        "evidence-twice",
        "A-010",
        "app-createuser.html",
        "Input values outside the interval are interpreted modulo the size.",
    ),
    put("page-unknown", "A-040", page="functions-format.html"),
    put(
        "passage-near",
        "A-018",
        beside=("A-016",),
        page="intarray.html",
        input="In PostgreSQL's intarray, what does the numranges parameter of gist__int_ops determine?",
        target="The maximum number of ranges in one index key.",
        evidence="Its optional integer parameter numranges determines the maximum number of ranges in one index key.",
        claims=[claim("It is the maximum number of ranges in one index key.", "maximum number of ranges")],
    ),
    put(
        "page-shared",
        "A-048",
        beside=("A-014",),
        page="plpgsql-errors-and-messages.html",
        input="Which failure of PL/pgSQL's ASSERT raises ASSERT_FAILURE?",
        target="A false or null condition.",
        evidence="If the result is false or null, then an ASSERT_FAILURE exception is raised.",
        claims=[claim("The condition is false or null.", "false", "null")],
    ),
    Fault(rule="evidence-long", question="A-024", change=_tidy_page),
    put(
        "near-duplicate",
        "A-006",
        beside=("A-036",),
        input="In PostgreSQL's fuzzystrmatch module, what is the maximum length of the target and source strings that "
        "levenshtein accepts?",
    ),
    put(
        "question-repeated",
        "A-004",
        beside=("A-006",),
        input="in PostgreSQL's LTREE extension, what is the maximum number of  labels in a label path?",
    ),
    put(
        "answer-type",
        "A-002",
        target="A long string of random characters.",
        claims=[claim("It is a long string of random characters.", "long")],
    ),
    append(
        "answered-elsewhere",
        "A-054",
        "app-createuser.html",
        "To find which processes block a waiting one, call the function pg_blocking_pids() of PostgreSQL rather than "
        "self-joining pg_locks, as its documentation recommends.",
    ),
    signed("self-reviewed", "A-000", reviewedBy="A. Writer"),
    signed("created-no-date", "A-008", created="last spring"),
    signed("derived-unknown", "A-046", derivedFromSystem=None),
    Fault(
        rule="claim-repeated",
        question="A-052",
        change=_more_claims("A-052", claim("The index sizes come on top.", "index", central=False)),
    ),
    put("unsplit", "A-030", claims=None),
)

HELD_OUT_UV: tuple[Fault, ...] = (
    put(
        "deictic",
        "B-016",
        input="Which Debian package has to be installed in the case of pygraphviz discussed earlier?",
    ),
    put("pronoun", "B-050", input="Which executables do they put in place when httpie is installed?"),
    put("unnamed", "B-014", input="Why did the instructor of uv's course split publishing to PyPI into two jobs?"),
    put("subject", "B-028", input="How new may the minimum supported version be at most?"),
    put(
        "several-asked",
        "B-048",
        input="Which marker file does uv init --lib include to show consumers that types can be read, and how does one "
        "leave it out?",
    ),
    put("no-question", "B-052", input="The size limit that applies to zip archives in uv's AWS Lambda guide"),
    put(
        "key-literal",
        "B-006",
        evidence="This feature requires Compose 2.23.0 which is bundled with Docker Desktop 4.24.",
    ),
    put(
        "question-answers",
        "B-042",
        input="Which Python implementation besides CPython, for example Pyston, has only Tier 3 support in uv?",
    ),
    put(
        "target-unfounded",
        "B-020",
        target="us-east-2, on a t3.medium machine.",
    ),
    append(
        "answered-elsewhere",
        "B-000",
        "guides/tools.md",
        "For its TLS implementation uv uses rustls, combined with aws-lc-rs as the cryptography provider.",
    ),
    put(
        "answer-type",
        "B-034",
        target="It is the one for the bin directory.",
        claims=[claim("It is the one for the bin directory.", "bin")],
    ),
    put(
        "near-duplicate",
        "B-058",
        beside=("B-048",),
        input="In which file does uv init --lib include a marker to show consumers that types can be read from the "
        "library?",
    ),
)

HELD_OUT_PG: tuple[Fault, ...] = (
    put("deictic", "A-032", input="How many columns can a result set have at most, according to this appendix?"),
    put("time-deictic", "A-016", input="What is the default of PostgreSQL intarray's numranges as of today?"),
    put("subject", "A-024", input="What happens to a request when the queue is full?"),
    put("yes-no", "A-034", input="Can PQsendQuery be used in libpq's pipeline mode?", target="No, it cannot."),
    put(
        "multiple-choice",
        "A-044",
        input="Does PostgreSQL read a positive POSIX offset as: A) east of B) west of Greenwich?",
    ),
    put(
        "evidence-missing",
        "A-014",
        evidence="Allowed levels are DEBUG, LOG, INFO, NOTICE, WARNING, and EXCEPTION, with NOTICE being the default.",
    ),
    append(
        "evidence-twice",
        "A-008",
        "storage-vm.html",
        "The bottom level FSM pages store the free space available\non each heap (or index) page, using one byte to "
        "represent each such page.",
    ),
    put(
        "claim-beyond-target",
        "A-026",
        claims=[claim("autovacuum_multixact_freeze_max_age is 400 million, not 200.", "400 million")],
    ),
    put(
        "answer-count",
        "A-018",
        input="In PostgreSQL regular expressions, which three quantifiers can force greediness or non-greediness?",
    ),
    put(
        "answer-in-question",
        "A-050",
        input="When auto_explain.sample_rate samples statements, are nested statements explained all or none, and how?",
        target="All or none.",
        claims=[claim("All or none of the nested statements are explained.", "all", "none")],
    ),
    signed("created-no-date", "A-058", created="2026-13-01"),
    signed("self-reviewed", "A-040", author="b. reader"),
    put(
        "target-restates",
        "A-036",
        target="The maximum length of the source and target strings accepted by levenshtein in PostgreSQL's "
        "fuzzystrmatch module is 255 characters.",
    ),
    put("target-fails", "A-028", target="{0.1, 0.2, 0.4}."),
)

BLIND_UV: tuple[Fault, ...] = (
    put(
        "pronoun",
        "B-000",
        input="Which cryptography provider does it combine with rustls for its TLS implementation?",
    ),
    put(
        "deictic",
        "B-020",
        input="In which AWS region does the script described above run?",
    ),
    put(
        "deictic",
        "B-006",
        input="Which Docker Compose version do we need for the feature we just looked at?",
    ),
    put(
        "unnamed",
        "B-014",
        input="What reason does the author give for keeping uv's build and publish jobs apart?",
    ),
    put(
        "deictic",
        "B-016",
        input="Which Debian package does the guide say to install when the build fails with a missing header?",
    ),
    put(
        "pronoun",
        "B-034",
        input="Which environment variable overrides that directory?",
    ),
    put(
        "no-question",
        "B-042",
        input="Name the Python implementation that has only Tier 3 support in uv.",
    ),
    put(
        "no-question",
        "B-048",
        input="Which marker file does uv init --lib include? Answer with the file name only.",
    ),
    put(
        "target-long",
        "B-058",
        target="When you run uv build without any further options, uv will first go ahead and build a source "
        "distribution for the project, and after that it takes the source distribution that it has just built "
        "and creates a binary distribution, also known as a wheel, out of it, which makes sure that the "
        "source distribution is complete and that the wheel can really be built by others from what you "
        "publish.",
    ),
    put(
        "key-literal",
        "B-026",
        evidence="and append them to those specified in the build constraints file.",
    ),
    put(
        "target-fails",
        "B-052",
        target="512 MB.",
    ),
    put(
        "target-fails",
        "B-004",
        target="SIGKILL, SIGCHLD, SIGIO and SIGPOL.",
    ),
    put(
        "evidence-missing",
        "B-036",
        evidence="If the upload time is missing for a distribution, uv will treat it as unavailable",
    ),
    put(
        "page-unknown",
        "B-012",
        page="concepts/python-version.md",
    ),
    put(
        "evidence-twice",
        "B-038",
        evidence="from `./pyproject.toml` and **not** `some/path/pyproject.toml`.",
    ),
    put(
        "passage-shared",
        "B-056",
        beside=("B-034",),
        page="reference/storage.md",
        input="What env var lets one change the directory where uv puts the executables of Python versions it manages?",
        target="UV_PYTHON_BIN_DIR.",
        evidence="Use the `UV_PYTHON_BIN_DIR` environment variable to override the Python executable directory.",
        claims=[claim("UV_PYTHON_BIN_DIR", "UV_PYTHON_BIN_DIR")],
    ),
    put(
        "question-answers",
        "B-050",
        input="According to uv's tools guide, does uv tool install httpie put the http, https and httpie "
        "executables in place?",
    ),
    put(
        "answer-in-question",
        "B-054",
        input="Which hook of astral-sh/uv-pre-commit, such as uv-export, keeps a requirements.txt file in sync with "
        "uv.lock?",
    ),
    put(
        "several-asked",
        "B-022",
        input="Which packages have the highest priority when uv's resolver chooses among undecided packages, what "
        "happens on a conflict, and where is the result written?",
    ),
    put(
        "subject",
        "B-008",
        input="How do I disable self-updates?",
    ),
)

BLIND_PG: tuple[Fault, ...] = (
    put(
        "pronoun",
        "A-032",
        input="How many columns can they have at most?",
    ),
    put(
        "deictic",
        "A-038",
        input="Which Linux sysctl parameter does this section say raises the maximum socket connection queue length?",
    ),
    put(
        "deictic",
        "A-024",
        input="In the case mentioned earlier, what happens to a BRIN autosummarization request in PostgreSQL?",
    ),
    put(
        "subject",
        "A-052",
        input="How large can the temporary space get with the second method?",
    ),
    put(
        "unnamed",
        "A-058",
        input="How many executions with custom plans did the speaker mention?",
    ),
    put(
        "pronoun",
        "A-048",
        input="Why does doing so give no savings on Windows in PostgreSQL?",
    ),
    put(
        "no-question",
        "A-014",
        input="Default severity level of PL/pgSQL's RAISE statement",
    ),
    put(
        "no-question",
        "A-042",
        input="I would like to know how many large objects at most PostgreSQL's vacuumlo removes per transaction by "
        "default.",
    ),
    put(
        "target-long",
        "A-036",
        target="The source and the target string can both be any non-null string, but each of them may have a "
        "maximum of 255 characters, which is a restriction that one has to keep in mind whenever longer texts "
        "are to be compared, because for such texts the function will raise an error rather than cutting the "
        "strings down to the permitted length or returning null.",
    ),
    put(
        "key-literal",
        "A-006",
        target="65536 labels.",
        claims=[claim("The maximum is 65536.", "65536")],
    ),
    put(
        "key-literal",
        "A-002",
        evidence="This must have exactly the same value on the PostgreSQL and RADIUS servers.",
    ),
    put(
        "evidence-missing",
        "A-010",
        evidence="Input values outside of the interval get interpreted modulo the size.",
    ),
    put(
        "evidence-elsewhere",
        "A-054",
        page="view-pg-cursors.html",
    ),
    put(
        "evidence-twice",
        "A-004",
        input="How many columns can an index have at most in PostgreSQL, INCLUDE columns counted?",
        target="32 columns.",
        evidence="Indexes can have up to 32 columns, including INCLUDE columns.",
        claims=[claim("At most 32 columns.", "32")],
    ),
    put(
        "near-duplicate",
        "A-030",
        beside=("A-006",),
        page="ltree.html",
        input="What is the biggest number of labels that a label path in PostgreSQL's ltree extension can hold?",
        target="65535.",
        evidence="The length of a label path cannot exceed 65535 labels.",
        claims=[claim("At most 65535 labels.", "65535")],
    ),
    put(
        "question-answers",
        "A-018",
        input="In PostgreSQL regular expressions, what do the quantifiers {1,1} and {1,1}? do to the greediness of "
        "a subexpression?",
    ),
    put(
        "question-answers",
        "A-026",
        input="PostgreSQL 15's autovacuum_multixact_freeze_max_age has a default of 400 million of what?",
    ),
    put(
        "several-asked",
        "A-016",
        input="In PostgreSQL's intarray, what is the default of numranges, what is its valid range, and for which "
        "columns should one use gist__intbig_ops instead?",
    ),
    put(
        "target-fails",
        "A-044",
        target="On the American side.",
    ),
    put(
        "page-shared",
        "A-022",
        beside=("A-010",),
        page="pgbench.html",
        input="For which function is hash an alias in PostgreSQL's pgbench?",
        target="hash_murmur2.",
        evidence="This is an alias for hash_murmur2",
        claims=[claim("hash_murmur2", "hash_murmur2")],
    ),
)

UNUSUAL_UV = {
    "B-000": "rustls and which cryptography provider make up uv's TLS implementation?",
    "B-004": ("Suppose uv run receives signals on Unix: what are the four that it keeps from the child process?"),
    "B-008": (
        "Setting what environment variable puts uv, as installed by its installer, into a given path without "
        "touching shell profiles?"
    ),
    "B-016": (
        "Building pygraphviz with uv fails because graphviz/cgraph.h is missing; what Debian package provides it?"
    ),
    "B-020": (
        "The Coiled script example in uv's documentation runs in the AWS region where its data file lives; "
        "which region is that?"
    ),
    "B-024": "When a uv workspace member depends on another, how is this dependency installed?",
    "B-028": (
        "If N is the latest stable Rust, what is the newest version that uv's minimum supported Rust version may be?"
    ),
    "B-042": "In uv, Tier 3 support is given to exactly one Python implementation: which?",
    "B-048": (
        "To tell its consumers that types can be read from it, a library made by uv init --lib carries what "
        "marker file?"
    ),
    "B-052": "How big may a zip archive get when uv's AWS Lambda guide is followed?",
}

UNUSUAL_PG = {
    "A-002": "At least how long should the shared secret in PostgreSQL's RADIUS authentication be?",
    "A-006": "A label path in PostgreSQL's ltree can have up to how many labels?",
    "A-014": "PL/pgSQL's RAISE, when it is given no level, raises at which severity?",
    "A-020": ("Whose genetic algorithm, and which one, did the developers of PostgreSQL's GEQO module adapt?"),
    "A-032": "What's the hard limit on the columns of one result set in PostgreSQL 15?",
    "A-034": "PQsendQuery is refused in libpq's pipeline mode. What is the reason for this?",
    "A-042": (
        "Without its option for a limit, how many large objects does PostgreSQL's vacuumlo remove in one transaction?"
    ),
    "A-044": (
        "Where, relative to Greenwich, do zones lie whose POSIX time zone specification in PostgreSQL has a "
        "positive offset?"
    ),
    "A-046": ("Besides zero, what values may MAX_RATE take in PostgreSQL's BASE_BACKUP replication command?"),
    "A-052": (
        "When PostgreSQL's CLUSTER scans a table sequentially and sorts, how much temporary space can this "
        "take at its peak?"
    ),
}
