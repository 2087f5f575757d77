import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/**
 * Source of a request: an IPv4 address, or the /64 network of an IPv6 address, which one subscriber
 * owns as a whole.
 */
export type SourceOf = (request: Pick<IncomingMessage, "socket" | "headers">) => string;

/**
 * Determines the source of requests. Trusts only the addresses in `X-Forwarded-For` that trusted
 * proxies have added: returns the last one that is not a trusted proxy.
 *
 * @throws Error for a proxy that is neither an address nor a network (`10.0.0.0/8`).
 */
export function createSourceOf(trustedProxies: readonly string[]): SourceOf {
  const trusted = new BlockList();
  for (const each of trustedProxies) {
    const [address = "", bits] = each.split("/");
    const version = isIP(address);
    if (version === 0) throw new Error(`${each} is neither an IP address nor a network`);
    const family = version === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string): boolean => isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return ({ socket, headers }) => {
    let source = plain(socket.remoteAddress ?? "");
    const forwarded = String(headers["x-forwarded-for"] ?? "").split(",");
    while (isTrusted(source) && forwarded.length > 0) {
      const before = plain((forwarded.pop() ?? "").trim());
      if (isIP(before) === 0) break;
      source = before;
    }
    return isIP(source) === 6 ? network(source) : source;
  };
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=[0-9.]+$)/i, "");

/** Expands the first four groups of an IPv6 address. */
function network(address: string): string {
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const groups = head.split(":").filter((group) => group !== "");
  const filled =
    tail === undefined
      ? groups
      : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - tail.split(":").length)).fill("0"), ...tail.split(":")];
  return `${filled
    .slice(0, 4)
    .map((group) => (group === "" ? "0" : group.toLowerCase()))
    .join(":")}::/64`;
}
