import { expect, test } from "vitest";
import { freePort } from "./free-port.js";

test("no port is returned twice before a server listens on it", async () => {
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()));
  expect(new Set(ports).size).toBe(300);
});
