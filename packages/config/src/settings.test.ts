import { expect, test } from "vitest";
import { isLoopback } from "./settings.js";

test.each(["localhost", "127.0.0.1", "127.1.2.3", "::1"])("%s is a loopback address", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(["0.0.0.0", "::", "10.0.0.1", "api.localhost", "[::1]", "127.0.0.1.example.com", ""])("%j is not a loopback address", (host) => {
  expect(isLoopback(host)).toBe(false);
});
