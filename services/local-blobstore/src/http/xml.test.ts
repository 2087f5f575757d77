import fc from "fast-check";
import { expect, test } from "vitest";
import { childText, parseXml, xmlDocument } from "./xml.js";

test("a document is parsed with namespaces, attributes, comments, entities and CDATA", () => {
  const node = parseXml(
    '\ufeff<?xml version="1.0"?>\n<!-- x --><d:Delete xmlns:d="http://x/" a=\'1\'><Object><Key>a&lt;&amp;&#233;&#x1F600;<![CDATA[<b>]]></Key></Object><Quiet/></d:Delete>\n',
  );
  expect(node?.name).toBe("Delete");
  expect(node?.children.map((child) => child.name)).toEqual(["Object", "Quiet"]);
  expect(node?.children[0] && childText(node.children[0], "Key")).toBe("a<&é😀<b>");
});

test.each([
  "",
  "text",
  "<a>",
  "<a></b>",
  "<a/><b/>",
  "<a><b></a></b>",
  "<a",
  "</a>",
  "x<a/>",
  '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
  "<a>".repeat(50) + "</a>".repeat(50),
])("%s is refused", (text) => {
  expect(parseXml(text)).toBeUndefined();
});

test("any written text is parsed unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const node = parseXml(
        xmlDocument([
          "A",
          [
            ["B", text],
            ["C", [["D", 1]]],
          ],
        ]),
      );
      expect(node && childText(node, "B")).toBe(text);
    }),
  );
});

test("any text is parsed or refused quickly", () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    "</",
    "<a",
    "<a>",
    "</a>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "&",
    ";",
    "=",
    '"',
    " x='y'",
    "a",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const node = parseXml(pieces.join(""));
      expect(node === undefined || typeof node.name === "string").toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(parseXml("<a ".repeat(100_000))).toBeUndefined();
});

test.each([
  ["elements", `<a>${"<b/>".repeat(1_000_000)}</a>`],
  ["elements inside each other", `<a>${"<b>".repeat(1_000_000)}</a>`],
  ["a comment without end", `<a><!--${"-".repeat(4_000_000)}`],
  ["attributes", `<a ${'b="" '.repeat(800_000)}`],
  ["blanks", `<a${" ".repeat(4_000_000)}b`],
  ["ampersands", `<a>${"&a".repeat(2_000_000)}`],
  ["a name without end", `<${"a".repeat(4_000_000)}`],
])("four megabytes of %s are refused at once", { timeout: 20_000 }, (_, text) => {
  expect(parseXml(text)).toBeUndefined();
});

test("the completion document of the largest upload is parsed", () => {
  const part = (number: number) => `<Part><PartNumber>${number}</PartNumber><ETag>"e"</ETag><ChecksumCRC32>AAAA</ChecksumCRC32></Part>`;
  const parts = Array.from({ length: 10_000 }, (_, index) => part(index + 1));
  expect(parseXml(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`)?.children).toHaveLength(10_000);
});
