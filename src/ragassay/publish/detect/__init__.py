"""What is looked for in texts that would become public, one family of detectors per file.

`detectors` makes them all; the extra `pii` is needed and imported only there.
"""

from ragassay.publish.detect.choice import detectors
from ragassay.publish.detect.hit import KINDS, Detector, Hit, NotScanned

__all__ = ["KINDS", "Detector", "Hit", "NotScanned", "detectors"]
