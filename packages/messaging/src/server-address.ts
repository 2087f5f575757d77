/** Where the servers are, in the form that the client takes. */
export interface ServerAddress {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
}

/**
 * Takes an address apart: `nats://user:password@host:4222`; a cluster's servers
 * stand behind each other with commas, and the first user that is named is that of all.
 *
 * @throws Error when it is no such address; the message does not show it, for it may hold a password
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
