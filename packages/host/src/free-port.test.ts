import { expect, test } from "vitest";
import { freePort } from "./free-port.js";

test("no port is given out twice, though nobody listens on it yet", async () => {
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()));
  expect(new Set(ports).size).toBe(300);
});
