import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findHeadlessChromium } from "@flyte-ts/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../repository.js";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { TARGET } from "../stack/shell-tasks.js";
import { openWatchedPage, startBrowser } from "./fixtures/console-browser.fixture.js";

const chromium = findHeadlessChromium();
const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;

describe.runIf(chromium !== undefined)("the console over TLS of admin", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-tls-"));
  let admin: RunningAdmin;
  beforeAll(async () => {
    const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, "-keyout", keyFile, "-out", certFile],
      {
        stdio: "ignore",
      },
    );
    admin = await startAdmin((api) => ({
      server: { host: "127.0.0.1", grpcPort: api, httpPort: api, tls: { certFile, keyFile } },
      console: { folder: join(root, "services/console/bundle") },
    }));
  }, 120_000);
  afterAll(async () => {
    await admin?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  test("Chromium shows a page and its calls succeed", async () => {
    const browser = await startBrowser(chromium ?? "");
    try {
      const { page, open, settled, expectSound } = await openWatchedPage(browser, `https://localhost:${admin.api}`, {
        ignoreHTTPSErrors: true,
      });
      await open(`${SCOPE}/executions`);
      await page.getByText("Live", { exact: true }).waitFor();
      await settled();
      expect(await page.getByRole("alert").count()).toBe(0);
      await expectSound();
    } finally {
      await browser.close();
    }
  });
});
