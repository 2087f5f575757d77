/** A parsed request target. */
export type RequestPath =
  /** `encoded` is the path as sent; `components` are its decoded parts after the first slash. */
  | { readonly kind: "path"; readonly encoded: string; readonly components: readonly string[]; readonly query: string }
  /** The path has empty, `.` or `..` parts; redirect the client to `location`. */
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "malformed"; readonly reason: string };

/**
 * Parses a request target. Decodes before splitting, as grpc-gateway does: `%2F` separates
 * components too.
 */
export function parseRequestPath(target: string): RequestPath {
  // Node passes bytes above 0x7f as Latin-1; escaped, they are decoded as the original UTF-8.
  // Browsers read a backslash as a slash, so that a redirect to `/\host` would lead to another
  // host.
  const ascii = target.replace(/[\\\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  const absolute = /^https?:\/\/[^/?#]*/i.exec(ascii);
  const [encoded = "", ...rest] = (absolute ? ascii.slice(absolute[0].length) || "/" : ascii).split("?");
  const query = rest.join("?");
  if (!encoded.startsWith("/")) return { kind: "malformed", reason: "the path must start with /" };
  const clean = cleanPath(encoded);
  if (clean !== encoded) return { kind: "redirect", location: query === "" ? clean : `${clean}?${query}` };
  const decoded = decodePercent(encoded);
  if (decoded === undefined) return { kind: "malformed", reason: "the path is not valid percent-encoded UTF-8" };
  return { kind: "path", encoded, components: decoded.slice(1).split("/"), query };
}

/** Drops empty and `.` parts and resolves `..`; a trailing slash is kept. */
function cleanPath(path: string): string {
  const parts: string[] = [];
  const given = path.split("/");
  for (const part of given) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const last = given.at(-1);
  const open = parts.length > 0 && (last === "" || last === "." || last === "..");
  return `/${parts.join("/")}${open && path.endsWith("/") ? "/" : ""}`;
}

export type ParsedQuery = ReadonlyMap<string, readonly string[]>;

/**
 * Query parameters in the order of their first appearance; undefined when the query is malformed.
 * `;` is not a separator.
 */
export function parseQuery(query: string): ParsedQuery | undefined {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    if (pair.includes(";")) return undefined;
    const equals = pair.indexOf("=");
    const key = decodePercent((equals < 0 ? pair : pair.slice(0, equals)).replaceAll("+", " "));
    const value = decodePercent((equals < 0 ? "" : pair.slice(equals + 1)).replaceAll("+", " "));
    if (key === undefined || value === undefined) return undefined;
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
  return values;
}

function decodePercent(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
