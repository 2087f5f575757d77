/** Addresses and credentials, in the form that the client takes. */
export interface ServerAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
}

/**
 * Parses `nats://user:password@host:4222`; servers of a cluster are separated by commas, and the first user named is
 * that of all.
 *
 * @throws Error for an invalid address; the message omits it, since it may hold a password
 */
export function serverAddress(url: string): ServerAddress {
  const parts = url.split(",").map((part) => {
    const text = part.trim();
    const whole = text.includes("://") ? text : `nats://${text}`;
    if (!URL.canParse(whole)) throw new Error("the address of the message bus is not of the form nats://user:password@host:port");
    return new URL(whole);
  });
  const servers = parts.map(({ host }) => host);
  const named = parts.find(({ username }) => username !== "");
  if (named === undefined) return { servers };
  return { servers, user: decodeURIComponent(named.username), pass: decodeURIComponent(named.password) };
}
