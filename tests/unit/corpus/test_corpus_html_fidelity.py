"""What of an HTML page is kept and what is dropped, thing by thing: nothing is lost without standing in this list."""

from __future__ import annotations

import pytest

from ragassay.corpus.html_blocks import extract

KEPT = {
    "nested table": (
        "<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table></td><td>d</td></tr></table>",
        "a\n\nb\tc\n\nd",
    ),
    "caption, head, foot": (
        "<table><caption>C</caption><thead><tr><th>h</th></tr></thead><tfoot><tr><td>f</td></tr></tfoot>"
        "<tbody><tr><td>b</td></tr></tbody></table>",
        "C\n\nh\nf\nb",
    ),
    "spanned cells": ("<table><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a\tb\nc"),
    "definition list": ("<dl><dt>t</dt><dt>u</dt><dd>d<dl><dt>x</dt><dd>y</dd></dl></dd></dl>", "t\n\nu\nd\n\nx\ny"),
    "definition list in groups": ("<dl><div><dt>t</dt><dd>d</dd></div></dl>", "t\nd"),
    "preformatted": (
        "<pre>\tif a &lt; b &amp;&amp; c:\n\t\treturn &quot;x&quot;&#9;y\n</pre>",
        '\tif a < b && c:\n\t\treturn "x"\ty',
    ),
    "preformatted, blank first line": ("<pre>\n\n  a\n  b  \n</pre>after", "\n  a\n  b\n\nafter"),
    "preformatted in a list": ("<ul><li>step<pre>  code\n    more</pre></li></ul>", "step\n\n  code\n    more"),
    "preformatted in a cell": ("<table><tr><td><pre>a\n  b</pre></td><td>c</td></tr></table>", "a\n  b\tc"),
    "code in line spans": ("<pre><code><span>a</span>\n<span>  b</span></code></pre>", "a\n  b"),
    "code with line breaks": ("<pre><code><span>a<br></span><span>  b<br></span></code></pre>", "a\n  b"),
    "code beside its line numbers": (
        "<table><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>a = 1\nb = 2</pre></td></tr></table>",
        "a = 1\nb = 2",
    ),
    "code as it stands": (
        "<xmp><b>raw</b></xmp><p><kbd>Ctrl</kbd>+<kbd>C</kbd> <samp>ok</samp>",
        "<b>raw</b>\n\nCtrl+C ok",
    ),
    "no-break space, soft hyphen": ("<p>a&nbsp;b&shy;c&#x2011;d&#8203;e", "a\u00a0b\u00adc\u2011d\u200be"),
    "no-break space in code": ("<pre>a&nbsp;&nbsp;b</pre>", "a\u00a0\u00a0b"),
    "entities by number and name": (
        "<p>&#x1F600; &hellip; &copy &#147;q&#148; &amp;lt; &bogus;",
        "😀 … © “q” &lt; &bogus;",
    ),
    "right-to-left and combining": ("<p><bdo dir=rtl>abc</bdo> שלום &rlm;e\u0301", "abc שלום \u200fe\u0301"),
    "details and summary": ("<details><summary>S</summary><p>body</p></details>", "S\n\nbody"),
    "every tab's panel": (
        "<div role=tabpanel>apt</div><div role=tabpanel hidden>brew</div><p style='display:none'>dnf</p>",
        "apt\n\nbrew\n\ndnf",
    ),
    "tabs' labels": ("<input type=radio id=a><label for=a>Linux</label><div>apt</div>", "Linux\n\napt"),
    "line break": ("<p>a<br/>b<br><br>c", "a\nb\nc"),
    "formula in MathML": (
        "<p>E <math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>"
        "<annotation encoding='application/x-tex'>E=mc^2</annotation></semantics></math> z",
        "E E=mc2 z",
    ),
    "formula for MathJax 2": ('<p>see <script type="math/tex">x^2</script> end', "see x^2 end"),
    "formula of KaTeX, once": (
        "<p><span><math><mi>x</mi></math></span><span class=katex-html aria-hidden=true>x</span>",
        "x",
    ),
    "ruby with its reading": ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
    "struck and inserted": ("<p><del>old</del> <ins>new</ins> <s>gone</s> x<sup>1</sup>", "old new gone x1"),
    "address, figure, legend": (
        "<address>A<br>B</address><figure><figcaption>cap</figcaption></figure><fieldset><legend>L</legend>x</fieldset>",
        "A\nB\n\ncap\n\nL\n\nx",
    ),
    "elements of no known name": ("<my-note>note <slot>fallback</slot></my-note>", "note fallback"),
    "fallback of an object": ("<object data=x>shown without it</object>", "shown without it"),
    "aside in the content": ("<main><aside>side</aside>x</main>", "side\n\nx"),
    "what follows </html>": ("a</body></html><p>tail</p>more", "a\n\ntail\n\nmore"),
    "unclosed tags": ("<p>a<p>b<ul><li>c<li>d", "a\n\nb\n\nc\nd"),
}
"""Thing → (page, its text)."""

DROPPED = {
    "navigation": "<nav>{}</nav>",
    "page header": "<header>{}</header>",
    "page footer": "<footer>{}</footer>",
    "aside of the page": "<aside>{}</aside>",
    "landmarks by role": "<div role=navigation>{0}</div><div role=banner>{0}</div><div role=search>{0}</div>",
    "script": "<script>{}</script>",
    "style": "<style>{}</style>",
    "template": "<template><p>{}</p></template>",
    "noscript": "<noscript>{}</noscript>",
    "button": "<button>{}</button>",
    "choices of a form": "<select><option>{}</option></select><textarea>{}</textarea>",
    "what fields hold": '<input value="{}" placeholder="{}">',
    "dialog": "<dialog open>{}</dialog>",
    "drawing": "<svg><text>{}</text></svg><canvas>{}</canvas>",
    "text for a picture": '<img src=x alt="{0}" title="{0}"><map><area alt="{0}"></map>',
    "frames and media": "<iframe src=x>{}</iframe><audio>{}</audio><video>{}</video>",
    "hidden from screen readers": "<span aria-hidden=true>{}</span>",
    "marks beside headings": "<a class=headerlink>{}</a><a class=hash-link>{}</a>",
    "line numbers": "<span class=linenos>{}</span>",
    "titles and other attributes": '<abbr title="{0}" data-x="{0}"></abbr><p title="{0}"></p>',
    "comments": "<!-- {} -->",
    "numbers and marks of a list": '<ol start="3"><li value="9"></li></ol>',
}
"""Thing → a page; whatever stands at the braces is no text of it."""


@pytest.mark.parametrize("thing", KEPT)
def test_is_kept(thing: str) -> None:
    """The text has every word and every white space that means something."""
    page, text = KEPT[thing]
    assert extract(f"<html><body>{page}").text == text


@pytest.mark.parametrize("thing", DROPPED)
def test_is_dropped(thing: str) -> None:
    """The text has nothing of it, and all of what stands around it."""
    page = DROPPED[thing].format("LOST", "LOST", "LOST")
    assert extract(f"<html><body><p>before</p>{page}<p>after</p>").text == "before\n\nafter"
