import { expect, test } from "vitest";
import { createSourceOf } from "./request-source.js";

const from = (remoteAddress: string, forwarded?: string, proxies: readonly string[] = ["10.0.0.0/8", "::1"]) =>
  createSourceOf(proxies)({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded } } as never);

test.each([
  ["the socket's own address", from("192.0.2.1"), "192.0.2.1"],
  ["the header of an untrusted proxy is ignored", from("192.0.2.1", "198.51.100.7"), "192.0.2.1"],
  ["the address added by a trusted proxy", from("10.1.1.1", "203.0.113.9, 198.51.100.7"), "198.51.100.7"],
  ["the address before two trusted proxies", from("::1", "198.51.100.7, 10.2.2.2"), "198.51.100.7"],
  ["a trusted proxy with an invalid header", from("10.1.1.1", "unknown"), "10.1.1.1"],
  ["IPv4 in the form of IPv6", from("::ffff:192.0.2.1"), "192.0.2.1"],
  ["a network of IPv6", from("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64"],
  ["the same network, shortened", from("2001:db8:1:2::9"), "2001:db8:1:2::/64"],
  ["zeros in the network", from("2001:db8::9"), "2001:db8:0:0::/64"],
  ["loopback", from("::1", undefined, []), "0:0:0:0::/64"],
])("%s", (_what, source, expected) => expect(source).toBe(expected));

test("a trusted proxy must be an address or a network", () =>
  expect(() => createSourceOf(["proxy.example.com"])).toThrow("neither an IP address nor a network"));
