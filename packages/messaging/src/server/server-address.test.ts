import { expect, test } from "vitest";
import { serverAddress } from "./server-address.js";

test.each([
  ["nats://127.0.0.1:4222", { servers: ["127.0.0.1:4222"] }],
  ["localhost", { servers: ["localhost"] }],
  ["nats://[::1]:4222", { servers: ["[::1]:4222"] }],
  ["nats://flyte:a%2Fb@bus:4222", { servers: ["bus:4222"], user: "flyte", pass: "a/b" }],
  ["nats://u:p@a:1, nats://b:2", { servers: ["a:1", "b:2"], user: "u", pass: "p" }],
])("%s", (url, address) => expect(serverAddress(url)).toEqual(address));

test("an invalid URL is rejected without its password in the error", () => {
  expect(() => serverAddress("nats://u:secret@:x")).toThrow(/^(?!.*secret).*nats:\/\/user:password@host:port/);
});
