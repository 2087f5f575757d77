/**
 * Renders the common part of Markdown as HTML: headings, lists, quotes, tables without alignment,
 * code, emphasis and links. All other text is shown as it is; HTML in it is not interpreted.
 */
export function renderMarkdown(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const html: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const block = readBlock(lines, at);
    html.push(block.html);
    at = block.next;
  }
  return html.filter((part) => part !== "").join("\n");
}

interface Block {
  readonly html: string;
  /** Line after the block. */
  readonly next: number;
}

function readBlock(lines: readonly string[], at: number): Block {
  const line = lines[at] ?? "";
  if (line.trim() === "") return { html: "", next: at + 1 };
  if (line.startsWith("```")) {
    const end = lines.findIndex((other, index) => index > at && other.startsWith("```"));
    const body = lines.slice(at + 1, end < 0 ? lines.length : end);
    return { html: `<pre><code>${escapeHtml(body.join("\n"))}</code></pre>`, next: end < 0 ? lines.length : end + 1 };
  }
  const [, marks, title = ""] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
  if (marks !== undefined) return { html: `<h${marks.length}>${inline(title)}</h${marks.length}>`, next: at + 1 };
  const group = (pattern: RegExp): { readonly bodies: readonly string[]; readonly next: number } => {
    let next = at;
    while (next < lines.length && pattern.test(lines[next] ?? "")) next++;
    return { bodies: lines.slice(at, next).map((item) => item.replace(pattern, "")), next };
  };
  for (const [pattern, wrap] of GROUPS) {
    if (!pattern.test(line)) continue;
    const { bodies, next } = group(pattern);
    return { html: wrap(bodies), next };
  }
  if (line.startsWith("|")) {
    const { next } = group(/^(?=\|)/);
    return { html: table(lines.slice(at, next)), next };
  }
  let next = at;
  while (next < lines.length && (next === at || isText(lines[next] ?? ""))) next++;
  return { html: `<p>${lines.slice(at, next).map(inline).join("\n")}</p>`, next };
}

const items = (bodies: readonly string[]) => bodies.map((body) => `<li>${inline(body)}</li>`).join("");

/** Begin of each line of a block, and the block's HTML. */
const GROUPS: readonly (readonly [RegExp, (bodies: readonly string[]) => string])[] = [
  [/^\s*[-*+] /, (bodies) => `<ul>${items(bodies)}</ul>`],
  [/^\s*\d+[.)] /, (bodies) => `<ol>${items(bodies)}</ol>`],
  [/^> ?/, (bodies) => `<blockquote>${bodies.map(inline).join("\n")}</blockquote>`],
];

const isText = (line: string): boolean => line.trim() !== "" && !/^(#{1,6} |```|\||>|\s*[-*+] |\s*\d+[.)] )/.test(line);

function table(lines: readonly string[]): string {
  const rows = lines.filter((line) => !/^\|[\s:|-]+$/.test(line)).map((line) => line.replace(/^\||\|\s*$/g, "").split("|"));
  const cells = (row: readonly string[], tag: string) =>
    `<tr>${row.map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`).join("")}</tr>`;
  const [head = [], ...body] = rows;
  return `<table>${cells(head, "th")}${body.map((row) => cells(row, "td")).join("")}</table>`;
}

function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`[^`]+`$/.test(part) ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : styled(escapeHtml(part))))
    .join("");
}

function styled(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>')
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/\*([^*]+)\*/g, "<em>$1</em>");
}

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
