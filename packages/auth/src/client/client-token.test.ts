import { expect, test } from "vitest";
import { createClientToken } from "./client-token.js";

let made = 0;
let now = Date.parse("2026-01-01T00:00:00Z");
const { current, onRejected } = createClientToken({
  clientId: "service",
  secret: async () => "secret",
  tokenEndpoint: async () => "https://issuer.test/token",
  clock: () => new Date(now),
  fetch: async () => Response.json({ access_token: `token-${++made}`, expires_in: 1_800 }),
});

test("a refused token is replaced by a new one, and a second refusal within the retry delay fetches no other", async () => {
  expect([await current(), await current()]).toEqual(["token-1", "token-1"]);
  now += 60_000;
  onRejected();
  expect(await current()).toBe("token-2");
  onRejected();
  expect(await current()).toBe("token-2");
  now += 10_000;
  onRejected();
  expect(await current()).toBe("token-3");
});

test("a clock that is set back does not extend the use of a token", async () => {
  now -= 3_600_000;
  expect(await current()).toBe("token-4");
});
