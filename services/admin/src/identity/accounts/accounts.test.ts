import { afterAll, beforeAll, expect, test } from "vitest";
import { loadBindings } from "../store/role-bindings.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { findClient, secretMatches } from "../store/issuer-clients.js";
import { loadKeys } from "../store/issuer-keys.js";
import { createPasswordCheck } from "../issuer/password-check.js";
import { findUser } from "../store/issuer-users.js";
import { parseAccountsCommand } from "./parse-command.js";
import { runAccounts } from "./run.js";

let database: AdminDatabase;
beforeAll(async () => {
  database = await adminDatabase();
});
afterAll(() => database.stop());

const clock = () => new Date();
const run = async (words: string, password = "long enough for it") =>
  runAccounts({ db: database.db, clock, readPassword: async () => password }, parseAccountsCommand(words.split(" ")));

test("users are created, updated and disabled", async () => {
  await expect(run("user ann", "short")).rejects.toThrow(/12 characters/);
  await run("user ann Ann ann@example.com a,b");
  const checked = createPasswordCheck(database.db, clock);
  const check = (name: string, password: string) => checked({ name, password, source: "192.0.2.1" });
  expect(await check("ann", "long enough for it")).toBe("right");
  expect(await findUser(database.db, "ann")).toMatchObject({ displayName: "Ann", email: "ann@example.com", groups: ["a", "b"] });
  await run("user ann", "another password");
  expect(await check("ann", "long enough for it")).toBe("wrong");
  await run("disable ann");
  expect(await check("ann", "another password")).toBe("wrong");
  await expect(run("disable nobody")).rejects.toThrow(/no user nobody/);
});

test("wrong passwords from one source block that source, and not the user from elsewhere", async () => {
  await run("user eve");
  const check = createPasswordCheck(database.db, clock);
  const from = (source: string, password: string) => check({ name: "eve", password, source });
  for (let i = 0; i < 11; i++) await from("192.0.2.1", "wrong");
  expect(await from("192.0.2.1", "long enough for it")).toBe("too-often");
  expect(await from("192.0.2.2", "long enough for it")).toBe("right");
  // Many concurrent attempts from one source must not starve another source.
  const flood = Array.from({ length: 50 }, (_, i) => check({ name: `nobody-${i}`, password: "x", source: "192.0.2.3" }));
  expect(await from("192.0.2.2", "long enough for it")).toBe("right");
  expect(new Set(await Promise.all(flood))).toEqual(new Set(["wrong", "too-often"]));
});

test("service clients get a secret that is shown once; users and clients share one namespace of names", async () => {
  const secret = await run("service robot");
  const client = await findClient(database.db, "robot");
  expect(secretMatches(client?.secretHash ?? "", secret)).toBe(true);
  expect(client?.secretHash).not.toBe(secret);
  await expect(run("user robot")).rejects.toThrow(/in use/);
  await run("user bob");
  await expect(run("service bob")).rejects.toThrow(/in use/);
  await expect(run("client bob http://localhost:1/callback")).rejects.toThrow(/in use/);
});

test("roles are granted and revoked", async () => {
  await run("grant subject ann admin");
  await run("grant group g viewer flytesnacks development");
  await run("grant group g viewer flytesnacks development");
  expect(await loadBindings(database.db)).toEqual([
    { kind: "group", name: "g", role: "viewer", project: "flytesnacks", domain: "development" },
    { kind: "subject", name: "ann", role: "admin", project: "*", domain: "*" },
  ]);
  await run("revoke subject ann admin");
  expect(await loadBindings(database.db)).toHaveLength(1);
});

test("signing keys are added", async () => {
  await loadKeys(database.db, clock);
  await run("rotate-key");
  expect((await loadKeys(database.db, clock)).signing).toHaveLength(2);
  expect(await run("drop-keys 1")).toContain("0 keys");
});

test.each([
  ["", /^the action is missing; it must be one of user, disable, /],
  ["nosuch x", /^unknown action "nosuch"; it must be one of user, disable, /],
  ["user", /^user: an argument is missing; usage: accounts user NAME /],
  ["disable ann bob", /^disable: unexpected argument "bob"; usage: accounts disable NAME$/],
  ["grant subject ann owner", /^grant: unknown ROLE "owner"; it must be one of viewer, runner, /],
  ["grant someone ann viewer", /^grant: "someone" is neither "subject" \(a user or client\) nor "group"; /],
  ["client x", /^client: an argument is missing; /],
  ["client x callback", /^client: REDIRECT-URI "callback" is not a URL; /],
  ["drop-keys 0", /^drop-keys: DAYS must be a number of at least 1: /],
])("%j is refused", async (words, message) => {
  await expect(run(words)).rejects.toThrow(message);
});
