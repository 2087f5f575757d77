import { afterEach, beforeEach, expect, test } from "vitest";
import { type WebhookReceiver, webhookReceiver } from "@flyte-ts/testing";
import { allowPublicAndSubnets } from "./allowed-address.js";
import { RetryableSendError, PermanentSendError } from "./send-errors.js";
import type { ResolveAll } from "./ssrf-safe-lookup.js";
import { post, type PostOptions } from "./post.js";

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await webhookReceiver(({ path }) => {
    const status = Number(path.slice(1, 4)) || 204;
    const headers: Record<string, string> = path.startsWith("/30") ? { location: path.slice(5) } : { "retry-after": "7" };
    return { status, body: "because\n so", headers };
  });
});
afterEach(() => receiver.stop());

const guarded: PostOptions = { allow: allowPublicAndSubnets([]), allowHttp: true, redirects: 0, timeoutMs: 5_000 };
const local: PostOptions = { ...guarded, allow: allowPublicAndSubnets(["127.0.0.0/8"]) };
const posted = (url: string, options: PostOptions = local) =>
  post({ url, headers: { "content-type": "application/json", "x-more": "1" }, body: "{}" }, options).then(
    () => "taken",
    (error: unknown) => error,
  );

test("a post is delivered with its headers and body", async () => {
  expect(await posted(`${receiver.url}/a?b=c`)).toBe("taken");
  expect(receiver.posts[0]).toMatchObject({ path: "/a?b=c", body: "{}", headers: { "x-more": "1", "content-length": "2" } });
});

test.each([
  ["500", RetryableSendError, "answered 500: because so"],
  ["429", RetryableSendError, "answered 429"],
  ["404", RetryableSendError, "answered 404"],
  ["410", PermanentSendError, "answered 410"],
])("a response with %s is classified", async (status, type, message) => {
  const error = await posted(`${receiver.url}/${status}`);
  expect(error).toBeInstanceOf(type);
  expect(error).toMatchObject({ message: expect.stringContaining(message) as unknown });
  expect((error as Partial<RetryableSendError>).retryAfterMs).toBe(status === "410" ? undefined : 7_000);
});

test("redirects are followed only if allowed, and each target is checked", async () => {
  const to = (target: string) => `${receiver.url}/307/${target}`;
  expect(await posted(to(`${receiver.url}/x`))).toMatchObject({
    message: expect.stringContaining("redirects are not followed") as unknown,
  });
  expect(receiver.posts).toHaveLength(1);
  expect(await posted(to(`${receiver.url}/x`), { ...local, redirects: 1 })).toBe("taken");
  expect(receiver.posts.at(-1)).toMatchObject({ path: "/x", body: "{}" });
  // Redirects to a forbidden address, or another scheme.
  for (const target of ["http://10.0.0.1/", "http://[::1]/", "file:///etc/passwd", "gopher://x/"]) {
    expect(await posted(to(target), { ...local, redirects: 3 })).toBeInstanceOf(PermanentSendError);
  }
  // Redirects in a circle, and one that would change the method.
  expect(await posted(`${receiver.url}/308/${receiver.url}/308/${receiver.url}/308/x`, { ...local, redirects: 1 })).toBeInstanceOf(
    RetryableSendError,
  );
  expect(await posted(`${receiver.url}/302/${receiver.url}/x`, { ...local, redirects: 3 })).toBeInstanceOf(RetryableSendError);
});

/** A resolver that gives these answers in turn. */
function resolver(...answers: string[][]): ResolveAll {
  return (_hostname, _options, done) => {
    const addresses = answers.length > 1 ? (answers.shift() ?? []) : (answers[0] ?? []);
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
}

test.each([
  ["loopback", "http://127.0.0.1:PORT/"],
  ["loopback as a number", "http://2130706433:PORT/"],
  ["loopback in octal and hex", "http://0177.0x0.1:PORT/"],
  ["loopback, IPv6", "http://[::1]:PORT/"],
  ["loopback, mapped", "http://[::ffff:127.0.0.1]:PORT/"],
  ["loopback in full-width digits", "http://１２７.0.0.1:PORT/"],
  ["this host", "http://0.0.0.0:PORT/"],
  ["a name that resolves to this host", "http://localhost:PORT/"],
  ["metadata", "http://169.254.169.254/latest/meta-data/"],
  ["metadata, mapped", "http://[::ffff:a9fe:a9fe]/"],
  ["user and password", "http://user:pass@example.com/"],
  ["another scheme", "ftp://example.com/"],
  ["no URL", "example.com"],
])("a post is refused: %s", async (_, url) => {
  const error = await posted(url.replace("PORT", new URL(receiver.url).port), guarded);
  expect(error).toBeInstanceOf(PermanentSendError);
  expect(receiver.posts).toEqual([]);
});

test("all addresses that a host name resolves to are checked at the time of the connection", async () => {
  const url = `http://hooks.example.com:${new URL(receiver.url).port}/secret`;
  for (const addresses of [["127.0.0.1"], ["::ffff:127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["169.254.169.254"]]) {
    const error = await posted(url, { ...guarded, resolve: resolver(addresses) });
    expect(error).toBeInstanceOf(PermanentSendError);
    // The path of an address may be a secret.
    expect(String(error)).not.toContain("secret");
  }
  // The resolver is called once: later answers have no effect.
  expect(await posted(url, { ...local, resolve: resolver(["127.0.0.1"], ["10.0.0.1"]) })).toBe("taken");
  expect(receiver.posts).toHaveLength(1);
});

test("plain HTTP is used only where it is allowed", async () => {
  expect(await posted(receiver.url, { ...local, allowHttp: false })).toMatchObject({
    name: "PermanentSendError",
    message: "the address begins with http:, and only https: is allowed",
  });
});

test("a receiver that does not respond times out, and an unreachable host is retried later", async () => {
  const silent = await webhookReceiver(() => "hang");
  expect(await posted(silent.url, { ...local, timeoutMs: 50 })).toMatchObject({ name: "RetryableSendError" });
  await silent.stop();
  expect(await posted(silent.url)).toMatchObject({
    name: "RetryableSendError",
    message: expect.stringContaining("cannot be reached") as unknown,
  });
});
