import { BlockList, isIP } from "node:net";
import { isPublicAddress } from "./public-address.js";

/** True when connecting to the address is allowed. */
export type AllowAddress = (address: string) => boolean;

const SUBNET = /^([0-9a-fA-F:.]+)\/([0-9]{1,3})$/;

/** True for a network such as `10.1.0.0/16` or `fd00::/8`. */
export function isSubnet(text: string): boolean {
  const [, network = "", bits = ""] = SUBNET.exec(text) ?? [];
  const family = isIP(network);
  return family !== 0 && Number(bits) <= (family === 6 ? 128 : 32);
}

/** Allows public addresses, and those of the named networks. */
export function allowPublicAndSubnets(subnets: readonly string[]): AllowAddress {
  const also = new BlockList();
  for (const subnet of subnets) {
    const [network = "", bits = ""] = subnet.split("/");
    also.addSubnet(network, Number(bits), isIP(network) === 6 ? "ipv6" : "ipv4");
  }
  return (address) => {
    if (isPublicAddress(address)) return true;
    const family = isIP(address);
    return family !== 0 && also.check(address, family === 6 ? "ipv6" : "ipv4");
  };
}
