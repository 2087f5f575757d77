/**
 * Validates a redirect target after login or logout: a local path, or a URL of an allowed origin.
 * Returns undefined for anything else, to prevent open redirects.
 */
export function allowedRedirect(
  requested: string | undefined,
  { publicUrl, allowedOrigins }: { readonly publicUrl: string; readonly allowedOrigins: readonly string[] },
): string | undefined {
  // Browsers read a backslash as a slash, and ignore control characters.
  if (requested === undefined || /[^!-\u{10ffff}]|\\/u.test(requested)) return undefined;
  if (!URL.canParse(requested, publicUrl)) return undefined;
  const url = new URL(requested, publicUrl);
  if (url.username !== "" || url.password !== "") return undefined;
  const origins = [publicUrl, ...allowedOrigins].map((each) => new URL(each).origin);
  return (url.protocol === "http:" || url.protocol === "https:") && origins.includes(url.origin) ? url.href : undefined;
}
