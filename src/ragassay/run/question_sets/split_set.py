"""Two halves of a question set become a signed commitment to the held-out one. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragassay import __version__
from ragassay.errors import InputError
from ragassay.manifest import Signer
from ragassay.manifest.held_out import SCHEME, Salt, item_hash, sign_held_out
from ragassay.manifest.item_statement import HeldOutPredicate, SetRef
from ragassay.manifest.statement import Digest, Evaluator
from ragassay.question.printable import printable
from ragassay.question.split import Halves
from ragassay.records import Benchmark


def commit(halves: Halves, salt: Salt, signer: Signer, *, share: str, now: int) -> bytes:
    """Return the signed commitment to the held-out half; `now` is in Unix seconds."""
    public, held = halves.public, halves.held_out
    predicate = HeldOutPredicate(
        name=held.name,
        version=held.version,
        public=SetRef(
            name=public.name,
            version=public.version,
            items=len(public.questions),
            digest=Digest(sha256=public.digest()),
            item_set=Digest(sha256=public.item_set_digest()),
        ),
        scheme=SCHEME,
        share=share,
        items=len(held.questions),
        whole=salt.whole(held.full_form()),
        hashes=tuple(sorted(item_hash(one, salt.item_salt(held.name, held.version, one.id)) for one in held.questions)),
        tool=Evaluator(name="ragassay", version=__version__),
        created=now,
        signer=signer.ref(),
    )
    return sign_held_out(predicate, signer)


def only(benchmark: Benchmark, ids: Sequence[str]) -> Benchmark:
    """Return the questions of those ids alone; raises `InputError` that names each id that is not there."""
    known = {question.id for question in benchmark.questions}
    if unknown := [f"there is no question {printable(name)!r}" for name in ids if name not in known]:
        raise InputError("nothing was revealed", unknown)
    return msgspec.structs.replace(benchmark, questions=tuple(q for q in benchmark.questions if q.id in set(ids)))
