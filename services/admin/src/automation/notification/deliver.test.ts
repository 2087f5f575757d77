import { type Database } from "@flyte-ts/postgres";
import { DeliveryState, NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import { isSignedBy, secretBytes } from "@flyte-ts/outbound";
import { Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { type MailServer, mailServer, type WebhookResponse, type WebhookReceiver, webhookReceiver } from "@flyte-ts/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { pruneFinished } from "../../platform/work-queue/lease.js";
import { startWorker } from "../../platform/work-queue/worker.js";
import { workOnce } from "../../platform/work-queue/work-once.fixture.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { notificationsSchema } from "./config-schema.js";
import { type DeliverDeps, createDeliveryHandler, nextDelayMs } from "./deliver.js";
import { DELIVERIES, insertDeliveries } from "../store/deliveries.js";
import { endedExecution, notification } from "./completed-execution.fixture.js";
import { notificationMetrics } from "./metrics.js";
import { planDeliveries } from "./plan.js";
import { createSend } from "./send.js";

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZg==";
let database: AdminDatabase;
let db: Database;
let served: ServedAdmin;
let api: ServiceClient<typeof NotificationService>;
let mails: MailServer;
let receiver: WebhookReceiver;
let answer: WebhookResponse;
beforeAll(async () => {
  database = await adminDatabase();
  db = database.db;
  served = await serveAdmin({ db });
  api = createClient({ channel: served.channel, service: NotificationService });
  mails = await mailServer();
  receiver = await webhookReceiver(() => answer);
});
afterAll(async () => {
  await Promise.all([served.stop(), mails.stop(), receiver.stop()]);
  await database.stop();
});
beforeEach(async () => {
  answer = { status: 204 };
  (receiver.posts as unknown[]).length = 0;
  (mails.mails as unknown[]).length = 0;
  await db.query({ text: "DELETE FROM notification_deliveries" });
});

const metrics = new Metrics();
const registered = notificationMetrics(metrics, { query: (query) => db.query(query) });
function depsWith(given: object = {}, changes: Partial<DeliverDeps> = {}): DeliverDeps {
  const config = notificationsSchema.parse({
    emailer: { sender: "flyte@example.com", smtp: { host: "127.0.0.1", port: mails.port, tls: "none" } },
    webhooks: [
      { name: "ops", url: `${receiver.url}/ops`, secret: { env: "OPS" } },
      { name: "chat", kind: "slack", urlFrom: { env: "CHAT_URL" } },
    ],
    allowHttp: true,
    allowNetworks: ["127.0.0.0/8"],
    ...given,
  });
  const env = { OPS: SECRET, CHAT_URL: `${receiver.url}/chat/t0ken` };
  const send = createSend({ config, env, clock: () => new Date() });
  return { db, config, send, random: () => 0.5, logger: createLogger({ service: "test", level: "silent" }), ...registered, ...changes };
}
const deliverOnce = (deps: DeliverDeps, limit: number) =>
  workOnce(createDeliveryHandler(deps, { concurrency: limit, perPartition: limit, pollMs: 0 }), limit);
async function owe(recipients: string[], name = "x", type: "email" | "slack" = "slack"): Promise<void> {
  const execution = endedExecution({ name, notifications: [notification(type, recipients)] });
  const { config } = depsWith();
  await insertDeliveries(
    db,
    planDeliveries(execution, config as never).map((delivery) => ({ execution, delivery })),
  );
}
const list = async (name = "") => (await api.listDeliveries({ project: "p", domain: "d", executionName: name })).deliveries;
const due = () => db.query({ text: "UPDATE notification_deliveries SET available_at = now()" });

test("a mail, a Slack message and a signed event are delivered and recorded as sent", async () => {
  await owe(["ann@example.com", "webhook:ops", "webhook:chat", `${receiver.url}/own`]);
  expect(await deliverOnce(depsWith(), 10)).toBe(4);
  const [mail] = mails.mails;
  expect(mail).toMatchObject({ from: "flyte@example.com", to: ["ann@example.com"] });
  const signed = receiver.posts.find(({ path }) => path === "/ops");
  const header = (name: string) => String(signed?.headers[name]);
  const message = { id: header("webhook-id"), timestamp: Number(header("webhook-timestamp")), body: signed?.body ?? "" };
  expect(isSignedBy(message, header("webhook-signature"), [secretBytes(SECRET)])).toBe(true);
  expect(JSON.parse(message.body)).toMatchObject({ type: "execution.failed" });
  for (const path of ["/chat/t0ken", "/own"]) {
    const post = receiver.posts.find((each) => each.path === path);
    expect(JSON.parse(post?.body ?? "")).toEqual({ text: expect.stringContaining("`x` of w (p, d) has failed") as unknown });
  }
  const shown = await list();
  expect(shown.map(({ state }) => state)).toEqual(Array(4).fill(DeliveryState.SENT));
  expect(shown.map(({ messageId }) => messageId)).toContain(message.id);
  expect(mail?.text).toContain(`Message-ID: <${shown.find(({ channel }) => channel === "email")?.messageId}@example.com>`);
  // The path of an incoming webhook is its secret.
  expect(shown.map(({ target }) => target).toSorted()).toEqual(["ann@example.com", `${receiver.url}/…`, "webhook:chat", "webhook:ops"]);
  expect(await deliverOnce(depsWith(), 10)).toBe(0);
});

test("a delivery whose record is lost in a crash is repeated with the same id after the lease expires", async () => {
  await owe(["ann@example.com", "webhook:ops"]);
  const dead: Database = {
    ...db,
    query: (query) => (query.name === "mark-delivery-sent" ? Promise.reject(new Error("dead")) : db.query(query)),
  };
  expect(await deliverOnce(depsWith({}, { db: dead }), 10)).toBe(2);
  expect((await list()).map(({ state }) => state)).toEqual(Array(2).fill(DeliveryState.WAITING));
  // No other worker claims it before the lease expires.
  expect(await deliverOnce(depsWith(), 10)).toBe(0);
  await due();
  expect(await deliverOnce(depsWith(), 10)).toBe(2);
  expect((await list()).map(({ state }) => state)).toEqual(Array(2).fill(DeliveryState.SENT));
  expect(new Set(receiver.posts.map(({ headers, body }) => `${String(headers["webhook-id"])} ${body}`)).size).toBe(1);
  expect(receiver.posts).toHaveLength(2);
  expect(new Set(mails.mails.map(({ text }) => /^Message-ID: .*$/m.exec(text)?.[0])).size).toBe(1);
  expect(mails.mails).toHaveLength(2);
});

test("replicas share the deliveries, and each message is sent once", async () => {
  await Promise.all(Array.from({ length: 40 }, (_, i) => owe(["webhook:ops"], `r${i}`)));
  let taken = 0;
  // Concurrent replicas see the same messages, and one of them claims each.
  for (let round = 0; round < 10 && taken < 40; round++) {
    const each = await Promise.all(Array.from({ length: 6 }, () => deliverOnce(depsWith(), 10)));
    taken += each.reduce((sum, one) => sum + one);
  }
  expect(taken).toBe(40);
  expect(new Set(receiver.posts.map(({ headers }) => headers["webhook-id"])).size).toBe(40);
  expect(receiver.posts).toHaveLength(40);
});

test("a failed delivery is retried with growing delays, then given up with the reason, and retried on request", async () => {
  await owe(["webhook:ops"], "late");
  answer = { status: 503, body: "not now" };
  await deliverOnce(depsWith(), 10);
  const pause = async () => {
    const { rows } = await db.query<{ seconds: number }>({
      text: "SELECT extract(epoch FROM available_at - now())::float8 AS seconds FROM notification_deliveries",
    });
    return rows[0]?.seconds ?? 0;
  };
  // 5 s with a jitter of half: three quarters with this randomness.
  expect(await pause()).toBeGreaterThan(2);
  expect(await pause()).toBeLessThanOrEqual(3.75);
  await due();
  answer = { status: 429, headers: { "retry-after": "100" } };
  await deliverOnce(depsWith(), 10);
  expect(await pause()).toBeGreaterThan(90);
  answer = { status: 503, body: "not now" };
  await due();
  await db.query({ text: "UPDATE notification_deliveries SET tried_since = now() - interval '2 days 23 hours 59 minutes 59 seconds'" });
  await deliverOnce(depsWith(), 10);
  const [given] = await list("late");
  expect(given).toMatchObject({
    state: DeliveryState.GIVEN_UP,
    attempts: 3,
    lastError: expect.stringMatching(/answered 503: not now$/) as unknown,
  });
  await due();
  expect(await deliverOnce(depsWith(), 10)).toBe(0);
  expect(await metrics.metrics()).toContain('flyte_admin_notification_tries_total{channel="webhook",outcome="given_up"} 1');

  answer = { status: 200 };
  const which = { project: "p", domain: "d", messageId: given?.messageId ?? "" };
  await api.retryDelivery(which);
  expect(await metrics.metrics()).toContain('flyte_admin_notifications_waiting{channel="webhook"} 1');
  expect(await deliverOnce(depsWith(), 10)).toBe(1);
  expect((await list("late"))[0]).toMatchObject({ state: DeliveryState.SENT, lastError: "" });
  await expect(api.retryDelivery(which)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  await expect(api.retryDelivery({ ...which, domain: "other" })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test.each<[string, string, object, string]>([
  ["a private address", "http://10.0.0.1/x", {}, "10.0.0.1 is not an address of the public internet"],
  ["a loopback address", "http://127.0.0.1:1/x", { allowNetworks: [] }, "127.0.0.1 is not an address"],
  ["plain HTTP", "http://8.8.8.8/x", { allowHttp: false }, "only https: is allowed"],
  [
    "a user's URL while only configured webhooks are allowed",
    "https://8.8.8.8/x",
    { slack: { allowUrls: false } },
    "name a configured one",
  ],
  ["an unconfigured webhook", "webhook:missing", {}, 'no webhook named "missing"'],
  ["an invalid mail address", "ann", {}, "not a mail address"],
  ["a mail without a configured server", "ann@example.com", { emailer: {} }, "notifications.emailer.smtp"],
])("a delivery is given up at once: %s", async (_, target, config, reason) => {
  await owe([target], "refused");
  await deliverOnce(depsWith(config), 10);
  const [given] = await list("refused");
  expect(given).toMatchObject({ state: DeliveryState.GIVEN_UP, attempts: 1, lastError: expect.stringContaining(reason) as unknown });
  expect(receiver.posts).toEqual([]);
});

test("a delivery is retried while its secret file does not exist", async () => {
  await owe(["webhook:ops"]);
  await deliverOnce(depsWith({ webhooks: [{ name: "ops", url: receiver.url, secret: { file: "/nowhere/secret" } }] }), 10);
  expect((await list())[0]).toMatchObject({
    state: DeliveryState.WAITING,
    lastError: expect.stringContaining("/nowhere/secret") as unknown,
  });
});

test("deliveries are listed by state and in pages, with validated limits", async () => {
  await owe(["webhook:ops", "webhook:chat", "webhook:missing"], "paged");
  await deliverOnce(depsWith(), 10);
  const at = { project: "p", domain: "d" };
  expect((await api.listDeliveries({ ...at, state: DeliveryState.GIVEN_UP })).deliveries).toHaveLength(1);
  const first = await api.listDeliveries({ ...at, limit: 2 });
  const second = await api.listDeliveries({ ...at, limit: 2, token: first.token });
  expect(new Set([...first.deliveries, ...second.deliveries].map(({ messageId }) => messageId)).size).toBe(3);
  expect(second.token).toBe("");
  expect((await api.listDeliveries({ ...at, domain: "other" })).deliveries).toEqual([]);
  for (const wrong of [{ limit: 1001 }, { token: "x" }, { state: 9 }, { project: "" }]) {
    await expect(api.listDeliveries({ ...at, ...wrong })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  }
});

test("finished deliveries are deleted after the retention time, waiting ones are not", async () => {
  await owe(["webhook:ops"], "done");
  await deliverOnce(depsWith(), 10);
  await owe(["webhook:ops"], "waits");
  await db.query({
    text: "UPDATE notification_deliveries SET ended_at = ended_at - interval '31 days', created_at = now() - interval '31 days'",
  });
  expect(await pruneFinished(db, DELIVERIES, { keepDays: 30, limit: 10 })).toBe(1);
  expect((await list()).map(({ execution }) => execution?.name)).toEqual(["waits"]);
});

test("retry delays double up to the maximum, with jitter", () => {
  const config = { firstDelaySeconds: 5, maxDelaySeconds: 60 };
  const pauses = (random: number) =>
    [1, 2, 3, 4, 5, 100].map((attempts) => nextDelayMs({ config, attempts, random: () => random, requestedMs: undefined }));
  expect(pauses(0)).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  expect(pauses(1)).toEqual([2_500, 5_000, 10_000, 20_000, 30_000, 30_000]);
  expect(nextDelayMs({ config, attempts: 1, random: () => 0, requestedMs: 1e9 })).toBe(60_000);
});

test("an unresponsive receiver does not delay other deliveries, and closing waits for deliveries in progress", async () => {
  answer = "hang";
  for (let i = 0; i < 12; i++) await owe(["webhook:ops"], `hangs${i}`);
  const deps = depsWith({ timeoutSeconds: 2 });
  const sender = startWorker(deps, createDeliveryHandler(deps, { concurrency: 10, perPartition: 8, pollMs: 20 }));
  await expect.poll(() => receiver.posts.length).toBe(8);
  for (let i = 0; i < 6; i++) await owe(["ann@example.com"], `mailed${i}`);
  await expect.poll(() => mails.mails.length).toBe(6);
  expect(receiver.posts).toHaveLength(8);
  await sender.close();
  const states = (await list())
    .filter(({ channel }) => channel === "webhook")
    .map(({ lastError, attempts }) => `${attempts} ${lastError.split(" ").at(-3)}`);
  expect(states.filter((each) => each.startsWith("1 within"))).toHaveLength(8);
  expect(states.filter((each) => each.startsWith("0"))).toHaveLength(4);
});
