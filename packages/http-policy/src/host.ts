/** The hosts that a listener serves. */
export interface ServedHosts {
  /** Address that the listener is bound to. */
  readonly listenAddress: string;
  /**
   * Host names, without ports; `*.example.com` matches every name below example.com, `*` every
   * name. Undefined: for a listener bound beyond loopback, the names accepted by
   * {@link isPrivateName}.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i;

/**
 * Parses the host of a Host header or an authority, in lower case, without port and trailing dot;
 * undefined when it is malformed.
 */
export function parseHostName(header: string): string | undefined {
  return HOST.exec(header)?.[1]
    ?.toLowerCase()
    .replace(/(?<=.)\.$/, "");
}

/** True for a loopback host: `localhost`, names below it (RFC 6761, 6.3), 127.0.0.0/8 and ::1. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:.+\.)?localhost$|^127(?:\.\d{1,3}){3}$|^\[?::1\]?$/.test(host);
}

const isAddress = (host: string): boolean => host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);

/**
 * True for a name that cannot be registered in the public DNS, so that no attacker can point it
 * here (DNS rebinding): a name without a dot, a Kubernetes service, a name below `.internal`.
 */
function isPrivateName(host: string): boolean {
  return !host.includes(".") || /\.(?:svc|cluster\.local|internal)$/.test(host);
}

/**
 * Decides whether a listener serves a host: the address that it is bound to, loopback names and
 * addresses, and the names that its operator lists. Bound beyond loopback it serves every address
 * too: a page that a browser loaded from an address was loaded from that machine itself.
 */
export function isAllowedHost(host: string, { listenAddress, allowedHosts }: ServedHosts): boolean {
  if (isLoopbackHost(host) || host === listenAddress.toLowerCase() || host === `[${listenAddress.toLowerCase()}]`) return true;
  if (allowedHosts?.some((pattern) => matches(host, pattern.toLowerCase())) === true) return true;
  if (isLoopbackHost(listenAddress)) return false;
  return isAddress(host) || (allowedHosts === undefined && isPrivateName(host));
}

function matches(host: string, pattern: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length : host === pattern;
}
