/**
 * True for an origin as browsers write it: `https://host`, with a port unless it is the scheme's
 * default.
 */
export function isWebOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/**
 * True when a page's origin is the host of its request. Schemes are not compared: behind a proxy
 * that terminates TLS the listener does not know its own.
 */
export function isSameOrigin(origin: string, host: string): boolean {
  if (!isWebOrigin(origin)) return false;
  const page = new URL(origin);
  const requestUrl = `${page.protocol}//${host}`;
  return URL.canParse(requestUrl) && new URL(requestUrl).host === page.host;
}
