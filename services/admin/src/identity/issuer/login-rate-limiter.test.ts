import { expect, test } from "vitest";
import { createLoginRateLimiter } from "./login-rate-limiter.js";

function fixture() {
  const clock = { now: 1_000_000 };
  const limit = createLoginRateLimiter(() => new Date(clock.now));
  const times = (count: number, url: string, source: string) => Array.from({ length: count }, () => limit({ url }, source));
  return { clock, times };
}

test("a source may begin 120 sign-ins per minute, independent of others", () => {
  const { clock, times } = fixture();
  expect(times(60, "/oauth2/authorize?client_id=c", "a")).toEqual(Array.from({ length: 60 }, () => undefined));
  expect(times(60, "/oauth2/device_authorization", "a")).toEqual(Array.from({ length: 60 }, () => undefined));
  clock.now += 10_000;
  expect(times(1, "/oauth2/authorize", "a")).toEqual([50]);
  expect(times(1, "/oauth2/device", "a")).toEqual([50]);
  expect(times(1, "/oauth2/authorize", "b")).toEqual([undefined]);
  clock.now += 50_000;
  expect(times(1, "/oauth2/authorize", "a")).toEqual([undefined]);
});

test("requests without stored state are not counted", () => {
  const { times } = fixture();
  for (const url of ["/oauth2/token", "/oauth2/jwks", "/oauth2/interaction/x", "/.well-known/openid-configuration"])
    expect(new Set(times(1_000, url, "a"))).toEqual(new Set([undefined]));
  expect(times(1, "/oauth2/authorize", "a")).toEqual([undefined]);
});

test("ten thousand sources are counted, and a clock that is set back blocks none", () => {
  const { clock, times } = fixture();
  times(120, "/oauth2/authorize", "first");
  for (let other = 0; other < 9_999; other++) times(1, "/oauth2/authorize", `${other}`);
  expect(times(1, "/oauth2/authorize", "first")).toEqual([60]);
  times(1, "/oauth2/authorize", "one more");
  expect(times(1, "/oauth2/authorize", "first")).toEqual([undefined]);
  times(119, "/oauth2/authorize", "first");
  clock.now -= 500_000;
  expect(times(1, "/oauth2/authorize", "first")).toEqual([undefined]);
});
