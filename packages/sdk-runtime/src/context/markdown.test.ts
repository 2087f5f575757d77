import { expect, test } from "vitest";
import { renderMarkdown } from "./markdown.js";

test("the common forms are rendered", () => {
  const text =
    "# Title\n\nA *word* and **two**, `x < 1`,\n[a link](https://example.org/a?b=1&c).\n\n- one\n- two\n\n1. first\n\n> quote\n\n```\nif (a < b) {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
  expect(renderMarkdown(text).split("\n")).toEqual([
    "<h1>Title</h1>",
    "<p>A <em>word</em> and <strong>two</strong>, <code>x &#60; 1</code>,",
    '<a href="https://example.org/a?b=1&#38;c">a link</a>.</p>',
    "<ul><li>one</li><li>two</li></ul>",
    "<ol><li>first</li></ol>",
    "<blockquote>quote</blockquote>",
    "<pre><code>if (a &#60; b) {}</code></pre>",
    "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
  ]);
});

test("HTML and addresses that run scripts stay text", () => {
  const html = renderMarkdown('<script>alert(1)</script> [x](javascript:alert(1)) [y](https://a"onclick=b)');
  expect(html).not.toMatch(/<script|<a href="javascript|"onclick/);
});

test("text that only begins like a table or a heading ends", () => {
  expect(renderMarkdown("|\n#no heading\n- ")).toContain("#no heading");
});
