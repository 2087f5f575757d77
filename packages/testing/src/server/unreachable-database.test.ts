import { createPool, isUnavailable } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type SilentLink, startSilentLink } from "../proxy/silent-link.js";
import { postgresFixture, type ServerFixture } from "./servers.js";

const logger = createLogger({ service: "test", level: "silent" });
/** Timeout of statements, so that the client's own follows after 5 s. */
const STATEMENT_MS = 100;
const TEST_MS = 60_000;

let postgres: ServerFixture;
let links: SilentLink[];
beforeEach(async () => {
  postgres = await postgresFixture();
  links = [];
});
afterEach(async () => {
  await Promise.all(links.map((link) => link.stop()));
  await postgres.stop();
});

/** Opens pools whose connections lose every packet when their link is silent. */
async function linked(maxConnections: number) {
  const url = new URL(postgres.url);
  const link = await startSilentLink(Number(url.port));
  links.push(link);
  url.port = `${link.port}`;
  return { link, db: createPool({ url: url.href, logger, maxConnections, statementTimeoutMs: STATEMENT_MS }) };
}

test(
  "statements on connections whose host is silent fail as unavailable, and later ones use new connections",
  async () => {
    const { link, db } = await linked(2);
    await Promise.all([db.query({ text: "SELECT 1" }), db.query({ text: "SELECT 1" })]);
    link.setSilent(true);
    const hung = [db.query({ text: "SELECT 1" }), db.transaction((tx) => tx.query({ text: "SELECT 1" }))];
    for (const each of hung) await expect(each).rejects.toSatisfy(isUnavailable);
    link.setSilent(false);
    const answers = [db.query({ text: "SELECT 1 AS one" }), db.transaction((tx) => tx.query({ text: "SELECT 1 AS one" }))];
    expect((await Promise.all(answers)).map(({ rows }) => rows)).toEqual([[{ one: 1 }], [{ one: 1 }]]);
    await db.close();
  },
  TEST_MS,
);

test(
  "a transaction whose statement got no answer ends at once, whatever its work does with the error",
  async () => {
    const { link, db } = await linked(1);
    const began = { ms: 0 };
    const work = db.transaction(async (tx) => {
      await tx.query({ text: "CREATE TABLE swallowed (id int)" });
      link.setSilent(true);
      await tx.query({ text: "SELECT 1" }).catch(() => undefined);
      began.ms = performance.now();
      await tx.query({ text: "SELECT 1" }).catch(() => undefined);
    });
    await expect(work).rejects.toSatisfy(isUnavailable);
    expect(performance.now() - began.ms).toBeLessThan(4_000);
    link.setSilent(false);
    expect((await db.query({ text: "SELECT to_regclass('swallowed') AS found" })).rows).toEqual([{ found: null }]);
    await db.close();
  },
  TEST_MS,
);

test(
  "the outcome of a commit without an answer is unknown",
  async () => {
    const { link, db } = await linked(1);
    const work = db.transaction(async () => link.setSilent(true));
    await expect(work).rejects.toMatchObject({ name: "CommitOutcomeUnknownError" });
    link.setSilent(false);
    await db.close();
  },
  TEST_MS,
);

test(
  "a pool with a listener on a silent connection closes",
  async () => {
    const { link, db } = await linked(1);
    const listening = await db.listen("things", () => undefined);
    link.setSilent(true);
    await expect(listening.close()).resolves.toBeUndefined();
    await db.listen("others", () => undefined);
    await expect(db.close()).resolves.toBeUndefined();
  },
  TEST_MS,
);
