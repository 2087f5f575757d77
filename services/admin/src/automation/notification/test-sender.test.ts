import { isSignedBy, secretBytes } from "@flyte-ts/outbound";
import { Code } from "@flyte-ts/rpc";
import { type MailServer, mailServer, type WebhookReceiver, type WebhookResponse, webhookReceiver } from "@flyte-ts/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { notificationsSchema } from "./config-schema.js";
import { TestSender } from "./test-sender.js";

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZg==";
const SCOPE = { project: "p", domain: "d" };
let mails: MailServer;
let receiver: WebhookReceiver;
let answer: WebhookResponse;
let sender: TestSender;

beforeAll(async () => {
  mails = await mailServer();
  receiver = await webhookReceiver(() => answer);
});
afterAll(() => Promise.all([mails.stop(), receiver.stop()]));
beforeEach(() => {
  answer = { status: 204 };
  (receiver.posts as unknown[]).length = 0;
  const config = notificationsSchema.parse({
    emailer: { sender: "flyte@example.com", smtp: { host: "127.0.0.1", port: mails.port, tls: "none" } },
    webhooks: [
      { name: "ops", url: `${receiver.url}/ops`, secret: { env: "OPS" } },
      { name: "elsewhere", url: `${receiver.url}/other`, secret: { env: "OPS" }, projects: ["other"] },
    ],
    allowHttp: true,
    allowNetworks: ["127.0.0.0/8"],
  });
  sender = new TestSender({ config, env: { OPS: SECRET }, clock: () => new Date() });
});

test("a webhook gets a signed event, a mail address a mail", async () => {
  expect(await sender.send({ ...SCOPE, receiver: "webhook:ops" })).toBe("");
  const [post] = receiver.posts;
  expect(JSON.parse(post?.body ?? "")).toMatchObject({ type: "execution.succeeded", data: { execution: { ...SCOPE, name: "test" } } });
  const header = (name: string) => String(post?.headers[name]);
  const message = { id: header("webhook-id"), timestamp: Number(header("webhook-timestamp")), body: post?.body ?? "" };
  expect(isSignedBy(message, header("webhook-signature"), [secretBytes(SECRET)])).toBe(true);
  expect(await sender.send({ ...SCOPE, receiver: "ann@example.com" })).toBe("");
  expect(mails.mails).toHaveLength(1);
});

test("the response contains the reason why a receiver does not accept the message", async () => {
  answer = { status: 410, body: "gone" };
  expect(await sender.send({ ...SCOPE, receiver: "webhook:ops" })).toMatch(/410: gone/);
  expect(await sender.send({ ...SCOPE, receiver: "webhook:missing" })).toMatch(/no webhook named "missing"/);
  expect(await sender.send({ ...SCOPE, receiver: "webhook:elsewhere" })).toMatch(/no webhook named "elsewhere"/);
});

test.each(["https://10.0.0.1/x", "http://localhost/", "ann", "", "file:///etc/passwd"])("%j is no receiver of a test", async (address) => {
  await expect(sender.send({ ...SCOPE, receiver: address })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  expect(receiver.posts).toEqual([]);
});

test("few tests are under way at a time", async () => {
  const sent = await Promise.allSettled(Array.from({ length: 10 }, () => sender.send({ ...SCOPE, receiver: "webhook:ops" })));
  const refused = sent.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(6);
  expect(refused[0]).toMatchObject({ reason: { code: Code.RESOURCE_EXHAUSTED } });
  expect(receiver.posts).toHaveLength(4);
  expect(await sender.send({ ...SCOPE, receiver: "webhook:ops" })).toBe("");
});
