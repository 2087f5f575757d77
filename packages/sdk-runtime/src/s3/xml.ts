/** Returns the text of the first element with this name; undefined when there is none. */
export function elementText(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  if (start < 0) return undefined;
  const from = start + name.length + 2;
  const end = xml.indexOf(`</${name}>`, from);
  return end < 0 ? undefined : unescapeXml(xml.slice(from, end));
}

/** Returns the contents of all elements with this name, which do not contain each other. */
export function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  for (let at = xml.indexOf(`<${name}>`); at >= 0; at = xml.indexOf(`<${name}>`, at + 1)) {
    const end = xml.indexOf(`</${name}>`, at);
    if (end < 0) break;
    found.push(xml.slice(at + name.length + 2, end));
  }
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal));
  });
}

export const escapeXml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
