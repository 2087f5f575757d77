import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { openInChromium } from "./chromium.fixture.js";

const chromium = findChromium();

// Browsers offer `h2` and `http/1.1`; over HTTP/2 admin serves gRPC only. A browser that negotiated
// `h2` would get an error page (415).
describe.runIf(chromium !== undefined)("a browser and admin's own TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-browser-"));
  const [certFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  let admin: RunningAdmin;
  beforeAll(async () => {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const made = ["-keyout", keyFile, "-out", certFile];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...made], { stdio: "ignore" });
    admin = await startAdmin((port) => ({
      server: { host: "127.0.0.1", grpcPort: port, httpPort: port, tls: { certFile, keyFile } },
    }));
  }, 120_000);
  afterAll(async () => {
    await admin?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  test("a REST URL opens as a page", { timeout: 180_000 }, async () => {
    const page = await openInChromium(chromium ?? "", `https://localhost:${admin.api}/api/v1/version`);
    expect(page).toContain('"Version":"v1.16.8"');
  });
});
