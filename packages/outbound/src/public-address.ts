import { BlockList, isIP } from "node:net";

/**
 * IPv4 networks outside the public internet (IANA special-purpose registry), and one cloud's
 * metadata host in a public range.
 */
const NOT_PUBLIC_4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["168.63.129.16", 32],
];

/**
 * Networks within 2000::/3, outside of which nothing is public: protocol and documentation
 * addresses, and tunnels to IPv4 addresses.
 */
const NOT_PUBLIC_6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const notPublic = listOf([...NOT_PUBLIC_4, ...NOT_PUBLIC_6]);
const unicast6 = listOf([["2000::", 3]]);

function listOf(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of subnets) list.addSubnet(network, bits, isIP(network) === 6 ? "ipv6" : "ipv4");
  return list;
}

/**
 * True for an address of the public internet. Loopback, private, link-local, carrier and
 * documentation networks are not, nor are multicast and the metadata services of clouds. IPv6
 * addresses that embed IPv4 ones (mapped, NAT64, 6to4, Teredo) never are: no name resolves to one
 * for a legitimate reason.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, "ipv4");
    case 6:
      return unicast6.check(withoutZone(address), "ipv6") && !notPublic.check(withoutZone(address), "ipv6");
    default:
      return false;
  }
}

/** Removes a zone (`fe80::1%eth0`), which only this host understands. */
function withoutZone(address: string): string {
  return address.split("%", 1)[0] ?? address;
}
