import { expect, test } from "vitest";
import { allowPublicAndSubnets, isSubnet } from "./allowed-address.js";
import { isPublicAddress } from "./public-address.js";

test.each([
  ["8.8.8.8"],
  ["1.1.1.1"],
  ["172.15.255.255"],
  ["172.32.0.1"],
  ["100.63.255.255"],
  ["223.255.255.255"],
  ["2606:4700:4700::1111"],
  ["2a00:1450:4001:82a::200e"],
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  // This host, and the unspecified address.
  ["0.0.0.0"],
  ["127.0.0.1"],
  ["127.255.255.254"],
  ["::"],
  ["::1"],
  // Private networks.
  ["10.0.0.1"],
  ["172.16.0.1"],
  ["172.31.255.255"],
  ["192.168.1.1"],
  ["100.64.0.1"],
  ["198.19.255.255"],
  ["fc00::1"],
  ["fd12:3456::1"],
  // Links.
  ["169.254.1.1"],
  ["fe80::1"],
  ["fe80::1%eth0"],
  ["fec0::1"],
  // Metadata services of clouds.
  ["169.254.169.254"],
  ["100.100.100.200"],
  ["168.63.129.16"],
  ["192.0.0.192"],
  ["fd00:ec2::254"],
  // IPv4 addresses embedded in IPv6.
  ["::ffff:127.0.0.1"],
  ["::ffff:a9fe:a9fe"],
  ["::ffff:8.8.8.8"],
  ["::127.0.0.1"],
  ["64:ff9b::7f00:1"],
  ["64:ff9b:1::a00:1"],
  ["2002:7f00:1::1"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  // Documentation, benchmarks, multicast and reserved.
  ["192.0.2.1"],
  ["198.51.100.1"],
  ["203.0.113.1"],
  ["2001:db8::1"],
  ["3fff::1"],
  ["224.0.0.1"],
  ["ff02::1"],
  ["240.0.0.1"],
  ["255.255.255.255"],
  // No address at all.
  ["localhost"],
  [""],
  ["127.1"],
  ["2130706433"],
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test("configured networks are allowed in addition to public addresses", () => {
  const allow = allowPublicAndSubnets(["10.1.0.0/16", "fd00:1::/32"]);
  expect(["8.8.8.8", "10.1.2.3", "fd00:1::5"].map(allow)).toEqual([true, true, true]);
  expect(["10.2.0.1", "127.0.0.1", "fd00:2::1", "localhost"].map(allow)).toEqual([false, false, false, false]);
  expect(["10.0.0.0/8", "fd00::/8", "::1/128"].map(isSubnet)).toEqual([true, true, true]);
  expect(["10.0.0.0", "10.0.0.0/33", "fd00::/129", "here/8", ""].map(isSubnet)).toEqual([false, false, false, false, false]);
});
