/** The hosts that a listener serves. */
export interface ServedHosts {
  /** Address that the listener is bound to. */
  readonly listensOn: string;
  /**
   * Host names, without ports; `*.example.com` stands for every name below example.com, `*` for every name. Undefined: where the
   * listener is bound beyond loopback, the names that {@link isPrivateName} tells.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i;

/** The host of a Host header or an authority, in lower case, without its port and the root's dot; undefined when it is malformed. */
export function hostNameOf(header: string): string | undefined {
  return HOST.exec(header)?.[1]
    ?.toLowerCase()
    .replace(/(?<=.)\.$/, "");
}

/** Whether a host is loopback: `localhost`, names below it (RFC 6761, 6.3), 127.0.0.0/8 and ::1. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:.+\.)?localhost$|^127(?:\.\d{1,3}){3}$|^\[?::1\]?$/.test(host);
}

const isAddress = (host: string): boolean => host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);

/**
 * Whether a name cannot be registered in the public DNS, so that no attacker can make it lead here (DNS rebinding): a name without
 * a dot, a Kubernetes service, a name below `.internal`.
 */
function isPrivateName(host: string): boolean {
  return !host.includes(".") || /\.(?:svc|cluster\.local|internal)$/.test(host);
}

/**
 * Decides whether a listener serves a host. It serves the address that it is bound to, loopback names and addresses, and the names
 * that its operator lists. Bound beyond loopback it serves every address too: a page that a browser loaded from an address
 * has been loaded from that machine itself.
 */
export function isAllowedHost(host: string, { listensOn, allowedHosts }: ServedHosts): boolean {
  if (isLoopbackHost(host) || host === listensOn.toLowerCase() || host === `[${listensOn.toLowerCase()}]`) return true;
  if (allowedHosts?.some((pattern) => matches(host, pattern.toLowerCase())) === true) return true;
  if (isLoopbackHost(listensOn)) return false;
  return isAddress(host) || (allowedHosts === undefined && isPrivateName(host));
}

function matches(host: string, pattern: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length : host === pattern;
}
