import { createLogger } from "@flyte-ts/telemetry";
import type { Database } from "@flyte-ts/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { createRevocations } from "./revocations.js";

let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());

const NOW = Date.parse("2026-01-01T00:00:00Z");
const logger = createLogger({ service: "test", level: "silent" });
const identityOf = (subject: string) => ({
  issuer: "",
  subject,
  clientId: undefined,
  scopes: [],
  groups: [],
  claims: { iat: NOW / 1000 - 3_600 },
  expiresAt: NOW + 3_600_000,
});

test("a replica whose clock was set back applies the revocations of another replica", async () => {
  let now = NOW;
  const here = createRevocations({ db: database.db, clock: () => new Date(now), logger, refreshSeconds: 5 });
  const there = createRevocations({ db: database.db, clock: () => new Date(NOW), logger, refreshSeconds: 5 });
  await here.check(identityOf("ann"));
  await there.revoke({ issuer: "", subject: "ann" });
  now -= 600_000;
  await expect(here.check(identityOf("ann"))).rejects.toThrow("revoked");
});

test("a revocation during the reading of revocations applies at once", async () => {
  const read = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow: Pick<Database, "query" | "outages"> = {
    outages: database.db.outages,
    query: async (query) => {
      const answer = await database.db.query(query);
      if (query.name === "load-token-revocations") {
        read.resolve();
        await goOn.promise;
      }
      return answer as never;
    },
  };
  const revocations = createRevocations({ db: slow, clock: () => new Date(NOW), logger, refreshSeconds: 5 });
  const before = revocations.check(identityOf("bob"));
  await read.promise;
  await revocations.revoke({ issuer: "", subject: "bob" });
  goOn.resolve();
  await before;
  await expect(revocations.check(identityOf("bob"))).rejects.toThrow("revoked");
});
