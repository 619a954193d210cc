"""Scans the texts of a workspace beside everything else, until it is done or nobody wants to know any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from ragassay.errors import InputError, PluginError
from ragassay.publish.detect.hit import Detector, Hit
from ragassay.publish.reading import Unit
from ragassay.publish.scan import scan
from ragassay.publish.texts import PublicText
from ragassay.records.publication import FindingKind
from ragassay.web.scanned import Scanned, done


class Scan(threading.Thread):
    """One scan of `texts`; the end of the program does not wait for it. `detectors_of` may raise `InputError`."""

    def __init__(
        self,
        texts: Callable[[], Iterable[PublicText]],
        units: Mapping[str, Unit],
        detectors_of: Callable[[], Sequence[Detector]],
    ) -> None:
        super().__init__(name="scan", daemon=True)
        self.found = Scanned()
        self._texts = texts
        self._units = units
        self._detectors_of = detectors_of
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let it end before the next text: what it looks through is no longer what there is."""
        self._stopped.set()

    def run(self) -> None:
        """Look through every text that would become public."""
        try:
            detectors = [_Stopping(one, self._stopped) for one in self._detectors_of()]
            self.found = done(scan(self._texts(), detectors), self._units)
        except _Stopped:
            return
        except (InputError, PluginError) as error:
            self.found = Scanned(problem=str(error))
        except Exception as error:  # noqa: BLE001 - whatever it was, the page must say that nothing was scanned
            self.found = Scanned(problem=f"the scan broke off, which is a bug in ragassay: {error!r}")


class _Stopped(Exception):
    """The scan is not wanted any more."""


class _Stopping:
    """A detector that looks at nothing more once a scan is stopped."""

    def __init__(self, of: Detector, stopped: threading.Event) -> None:
        self._of = of
        self._stopped = stopped

    @property
    def name(self) -> str:
        return self._of.name

    @property
    def kinds(self) -> frozenset[FindingKind]:
        return self._of.kinds

    def find(self, text: str) -> Iterable[Hit]:
        if self._stopped.is_set():
            raise _Stopped
        return self._of.find(text)
