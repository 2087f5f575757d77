import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DeviceCode, deviceFlow } from "./device-flow.js";
import { commandToken } from "./external-command.js";
import { discoverServer } from "./oauth-server.js";
import { type StandIn, startStandIn } from "./oauth-server.fixture.js";
import { pkceFlow } from "./pkce-flow.js";
import { personTokens, signIn, signOut } from "./sign-in.js";
import { TokenCache } from "./token-cache.js";

let folder: string;
let server: StandIn;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-sign-in-"));
  server = await startStandIn();
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => ({ FLYTE_TS_TOKEN_CACHE: join(folder, "tokens.json") });

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Makes a request to the listener as a browser, or as a foreign page with another host. */
function visit(url: URL, options: { readonly method?: string; readonly host?: string } = {}): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const { method = "GET", host = url.host } = options;
  const { port, pathname, search } = url;
  request({ host: "127.0.0.1", port, path: pathname + search, method, headers: { host } }, async (response) => {
    resolve({ status: response.statusCode ?? 0, text: (await response.setEncoding("utf8").toArray()).join("") });
  })
    .on("error", reject)
    .end();
  return promise;
}

/** Returns the address to which the sign-in page sends the browser. */
function returnOf(page: string, answer: Readonly<Record<string, string>>): URL {
  const asked = new URL(page).searchParams;
  const target = new URL(asked.get("redirect_uri") ?? "");
  for (const [name, value] of Object.entries({ state: asked.get("state") ?? "", ...answer })) target.searchParams.set(name, value);
  return target;
}

describe("the device flow", () => {
  /** Runs the flow with a clock that only its waits move. */
  async function run() {
    const waits: number[] = [];
    const codes: DeviceCode[] = [];
    let time = 0;
    const result = deviceFlow(await discoverServer(server.origin), {
      show: (code) => codes.push(code),
      wait: async (ms) => {
        waits.push(ms);
        time += ms;
      },
      now: () => time,
    });
    return { outcome: await result.catch((error: unknown) => error), waits, codes };
  }

  test("asks until the code is entered, and slows down as it is told", async () => {
    server.errors.push("authorization_pending", "slow_down", "authorization_pending");
    const { outcome, waits, codes } = await run();
    expect(outcome).toMatchObject({ accessToken: "access-1", refreshToken: "refresh-1" });
    expect(waits).toEqual([1_000, 1_000, 6_000, 6_000]);
    expect(codes).toEqual([{ userCode: "WDJB-MJHT", verificationUri: `${server.origin}/enter`, expiresAt: new Date(60_000) }]);
    const form = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "device-1", client_id: "flytectl" };
    expect(server.forms).toEqual([form, form, form, form]);
  });

  test.each(["expired_token", "access_denied", "invalid_client"])("ends with %s", async (code) => {
    server.errors.push("authorization_pending", code);
    const { outcome, waits } = await run();
    expect(outcome).toMatchObject({ name: "SignInError", code });
    expect(waits).toHaveLength(2);
  });

  test("ends when the code does, although the server would be asked on", async () => {
    server.errors.push(...Array.from({ length: 100 }, () => "authorization_pending"));
    const { outcome, waits } = await run();
    expect(outcome).toMatchObject({ code: "expired_token" });
    expect(waits).toHaveLength(60);
  });

  test("an answer that would control the terminal, or open another program, is refused", async () => {
    for (const device of [{ user_code: "\u001b]0;x" }, { verification_uri: "file:///etc/passwd" }]) {
      server.close();
      server = await startStandIn(device);
      expect((await run()).outcome).toMatchObject({ code: "invalid_answer" });
    }
  });
});

describe("sign-in by the browser", () => {
  /** Signs in; `browse` plays the browser. */
  async function run(browse: (page: string) => Promise<unknown>, timeoutMs = 60_000) {
    const browsed = Promise.withResolvers<unknown>();
    const open = (page: string) => void browse(page).then(browsed.resolve, browsed.reject);
    const outcome = await pkceFlow(await discoverServer(server.origin), { open, timeoutMs }).catch((error: unknown) => error);
    return { outcome, answers: await browsed.promise };
  }

  test("the code of the return and the verifier are exchanged for tokens", async () => {
    const { outcome, answers } = await run(async (page) => {
      const asked = new URL(page).searchParams;
      expect(Object.fromEntries(asked)).toMatchObject({ response_type: "code", scope: "all", code_challenge_method: "S256" });
      server.challenges.set("code-1", asked.get("code_challenge") ?? "");
      return visit(returnOf(page, { code: "code-1" }));
    });
    expect(answers).toMatchObject({ status: 200, text: expect.stringContaining("signed in") });
    expect(outcome).toMatchObject({ accessToken: "access-1" });
  });

  test("foreign pages are refused, and the sign-in goes on", async () => {
    const { outcome, answers } = await run(async (page) => {
      server.challenges.set("code-1", new URL(page).searchParams.get("code_challenge") ?? "");
      const target = returnOf(page, { code: "code-1" });
      const refused = [
        await visit(returnOf(page, { code: "stolen", state: "guessed" })),
        await visit(returnOf(page, { error: "access_denied", state: "" })),
        await visit(target, { host: `attacker.example:${target.port}` }),
        await visit(target, { method: "POST" }),
        await visit(new URL(`/other${target.search}`, target)),
      ];
      await visit(target);
      return refused.map(({ status }) => status);
    });
    expect(answers).toEqual([400, 400, 421, 405, 404]);
    expect(outcome).toMatchObject({ accessToken: "access-1" });
  });

  test("a denial ends the sign-in with its reason", async () => {
    const { outcome } = await run((page) => visit(returnOf(page, { error: "access_denied", error_description: "not \u001b[31myou" })));
    expect(outcome).toMatchObject({ code: "access_denied", message: "not  [31myou" });
  });

  test("the listener ends with its time", async () => {
    let target = new URL("http://localhost");
    const { outcome } = await run(async (page) => {
      target = returnOf(page, { code: "late" });
    }, 50);
    expect(outcome).toMatchObject({ code: "timeout" });
    await expect(visit(target)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("tokens of a person", () => {
  const person = (isRequired = true) => personTokens(server.origin, { environment: environment(), isRequired });
  const signedIn = (end: number) =>
    new TokenCache(environment().FLYTE_TS_TOKEN_CACHE).change(server.origin, async () => ({
      accessToken: "old",
      refreshToken: "refresh-0",
      end,
    }));

  test("tokens are kept for their owner alone until the person signs out", async () => {
    await signIn(server.origin, { kind: "device", show: () => undefined }, environment());
    const file = environment().FLYTE_TS_TOKEN_CACHE;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await person()()).toBe("access-1");
    await signOut(server.origin, environment());
    expect(readFileSync(file, "utf8")).toBe("{}\n");
    await expect(person()()).rejects.toThrow(`flyte-ts login --endpoint ${server.origin}`);
    expect(await person(false)()).toBeUndefined();
  });

  test("tokens are refreshed once, also by several programs at once", async () => {
    await signedIn(0);
    expect(await Promise.all([person()(), person()(), person()()])).toEqual(["access-1", "access-1", "access-1"]);
    expect(server.forms).toEqual([{ grant_type: "refresh_token", refresh_token: "refresh-0", client_id: "flytectl" }]);
    expect(existsSync(`${environment().FLYTE_TS_TOKEN_CACHE}.lock`)).toBe(false);
  });

  test("refused refresh tokens end the sign-in", async () => {
    await signedIn(0);
    server.errors.push("invalid_grant");
    await expect(person()()).rejects.toMatchObject({ code: "not_signed_in" });
  });

  test("a file that others may read is refused", async () => {
    await signedIn(Number.MAX_SAFE_INTEGER);
    chmodSync(environment().FLYTE_TS_TOKEN_CACHE, 0o644);
    await expect(person()()).rejects.toThrow("chmod 600");
  });

  test("a file that is no JSON holds none", async () => {
    writeFileSync(environment().FLYTE_TS_TOKEN_CACHE, "{", { mode: 0o600 });
    expect(await person(false)()).toBeUndefined();
  });
});

test("an API without authentication says so", async () => {
  const json = JSON.stringify({ code: 12, message: "unknown service" });
  const open = createServer((_, response) => response.writeHead(501, { "content-type": "application/json" }).end(json));
  await once(open.listen(0, "127.0.0.1"), "listening");
  const { port } = open.address() as AddressInfo;
  await expect(discoverServer(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ code: "no_server" });
  open.close();
});

test("a command prints the token, or fails with its name", async () => {
  expect(await commandToken([process.execPath, "-e", "console.log('abc')"])).toBe("abc");
  await expect(commandToken([process.execPath, "-e", "console.log('two words')"])).rejects.toThrow("prints no token");
  await expect(commandToken(["no-such-program"])).rejects.toThrow("the command for tokens failed");
});
