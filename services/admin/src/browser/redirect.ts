/**
 * Where a browser may be sent after it signed in or out: a path here, or an address of an origin that is allowed. Undefined for
 * anything else, so that a link to us leads nowhere else.
 */
export function allowedRedirect(
  wanted: string | undefined,
  { publicUrl, allowedOrigins }: { readonly publicUrl: string; readonly allowedOrigins: readonly string[] },
): string | undefined {
  // Browsers read a backslash as a slash, and pass over control characters.
  if (wanted === undefined || /[^!-\u{10ffff}]|\\/u.test(wanted)) return undefined;
  if (!URL.canParse(wanted, publicUrl)) return undefined;
  const url = new URL(wanted, publicUrl);
  if (url.username !== "" || url.password !== "") return undefined;
  const origins = [publicUrl, ...allowedOrigins].map((each) => new URL(each).origin);
  return (url.protocol === "http:" || url.protocol === "https:") && origins.includes(url.origin) ? url.href : undefined;
}
