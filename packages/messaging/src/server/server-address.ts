/** Addresses and credentials, in the form that the client takes. */
export interface ServerAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
}

/**
 * Parses `nats://user:password@host:4222`; servers of a cluster are separated by commas, and the
 * first user named is that of all.
 *
 * @throws Error for an invalid address; the message omits it, since it may hold a password
 */
export function serverAddress(url: string): ServerAddress {
  const parts = url.split(",").map((part) => {
    const text = part.trim();
    const withScheme = text.includes("://") ? text : `nats://${text}`;
    if (!URL.canParse(withScheme)) throw new Error("the address of the message bus is not of the form nats://user:password@host:port");
    return new URL(withScheme);
  });
  const servers = parts.map(({ host }) => host);
  const withUser = parts.find(({ username }) => username !== "");
  if (withUser === undefined) return { servers };
  return { servers, user: decodeURIComponent(withUser.username), pass: decodeURIComponent(withUser.password) };
}
