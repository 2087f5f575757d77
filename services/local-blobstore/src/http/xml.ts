/** Content of an element: text, or child elements in order. */
export type XmlContent = string | number | boolean | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

/** Formats an XML document of the S3 protocol; error documents have no namespace. */
export function xmlDocument([name, content]: XmlElement, namespace: string = NAMESPACE): string {
  const attribute = namespace === "" ? "" : ` xmlns="${namespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${attribute}>${contentXml(content)}</${name}>`;
}

function contentXml(content: XmlContent): string {
  if (!Array.isArray(content)) return escape(String(content));
  return (content as readonly XmlElement[]).map(([name, child]) => `<${name}>${contentXml(child)}</${name}>`).join("");
}

function escape(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters, which keys may hold, only travel as references
  return text.replace(/[<>&"\r\u0000-\u0008\u000b-\u001f]/g, (character) => {
    switch (character) {
      case "<":
        return "&lt;";
      case ">":
        return "&gt;";
      case "&":
        return "&amp;";
      case '"':
        return "&quot;";
      default:
        return `&#${character.charCodeAt(0)};`;
    }
  });
}

/** A parsed element with its children, or its text when it has none. */
export interface XmlNode {
  readonly name: string;
  readonly children: readonly XmlNode[];
  readonly text: string;
}

const TOKEN =
  /<\?[^]*?\?>|<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<\/([^\s>]+)\s*>|<([^\s/>!?]+)((?:\s+[^\s=>]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/y;

const MAX_LEVELS = 32;
/**
 * Maximum number of elements in a document. The largest valid request lists 10,000 parts, each with
 * number, ETag and checksum.
 */
const MAX_ELEMENTS = 60_000;

/**
 * Parses a small XML document; ignores namespaces and attributes.
 *
 * @returns undefined when it is not well-formed or has too many elements.
 */
export function parseXml(document: string): XmlNode | undefined {
  const top: MutableNode = { name: "", children: [], text: "" };
  const open = [top];
  let elements = 0;
  TOKEN.lastIndex = document.startsWith("\ufeff") ? 1 : 0;
  while (TOKEN.lastIndex < document.length) {
    const match = TOKEN.exec(document);
    const current = open.at(-1);
    if (match === null || current === undefined) return undefined;
    const [, cdata, closed, opened, , selfClosed, text] = match;
    if (cdata !== undefined) current.text += cdata;
    else if (text !== undefined) current.text += unescape(text);
    else if (opened !== undefined) {
      if (open.length > MAX_LEVELS || ++elements > MAX_ELEMENTS) return undefined;
      const node: MutableNode = { name: localName(opened), children: [], text: "" };
      current.children.push(node);
      if (selfClosed === "") open.push(node);
    } else if (closed !== undefined && (open.length === 1 || open.pop()?.name !== localName(closed))) return undefined;
  }
  return open.length === 1 && top.children.length === 1 && top.text.trim() === "" ? top.children[0] : undefined;
}

interface MutableNode {
  readonly name: string;
  readonly children: MutableNode[];
  text: string;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescape(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Returns the text of the first child with this name. */
export function childText(node: XmlNode, name: string): string | undefined {
  return node.children.find((child) => child.name === name)?.text;
}
