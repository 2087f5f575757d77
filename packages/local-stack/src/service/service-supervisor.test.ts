import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { expect, test } from "vitest";
import { ServiceSupervisor } from "./service-supervisor.js";

test("a service whose process cannot be created is retried", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-supervised-"));
  const opsPort = await freePort();
  const program = join(folder, "program.mjs");
  writeFileSync(
    program,
    `import { createServer } from "node:http";\ncreateServer((_, answer) => answer.end("ok")).listen(${opsPort}, "127.0.0.1");\n`,
  );
  const { execPath } = process;
  const ends: string[] = [];
  const onRestart = (_: string, how: string) => {
    ends.push(how);
    process.execPath = execPath;
  };
  const spec = { name: "service", program, configFile: join(folder, "none"), opsPort };
  const watchdog = { pid: undefined, watch: () => undefined };
  const service = new ServiceSupervisor(spec, { logDir: folder, watchdog, onRestart });
  try {
    process.execPath = join(folder, "missing");
    service.start();
    await service.ready(60_000);
    expect(ends).toEqual([expect.stringContaining("ENOENT")]);
  } finally {
    process.execPath = execPath;
    await service.stop();
    rmSync(folder, { recursive: true });
  }
});
