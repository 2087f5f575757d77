import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createBlobStore } from "@flyte-ts/blobstore";
import { describe, expect, onTestFinished, test } from "vitest";
import { cachedPython } from "../recorded/python.js";
import { startAdmin } from "../stack/admin-fixture.js";
import { startStore, STORES, storeUnavailable } from "./stores.js";

// Runs unmodified flytekit on stores other than S3, which the tests of whole stacks use. Flytekit
// uploads to the URL that admin signs, twice as for an unchanged bundle. It reads the location that
// admin reports, and writes raw outputs next to it through its own file system.
const SCRIPT = `
import pathlib, sys
from flytekit.configuration import Config
from flytekit.core.data_persistence import FileAccessProvider
from flytekit.remote import FlyteRemote
api, place, folder = sys.argv[1:]
remote = FlyteRemote(Config.for_endpoint(api, insecure=True), default_project="flytesnacks", default_domain="development")
source = pathlib.Path(folder) / "bundle.bin"
source.write_bytes(b"a code bundle")
for _ in range(2):
    _, uri = remote.upload_file(source, filename_root="root")
access = FileAccessProvider(folder, raw_output_prefix=f"{place}/data")
access.get_data(uri, f"{folder}/again")
assert pathlib.Path(f"{folder}/again").read_bytes() == b"a code bundle"
access.put_data(str(source), f"{place}/data/raw output")
print(uri)
`;

const kinds = STORES.filter(({ name }) => ["azurite", "fake-gcs-server"].includes(name));
const unavailable = new Map(await Promise.all(kinds.map(async (kind) => [kind.name, await storeUnavailable(kind)] as const)));

describe.each(kinds)("$name", (kind) => {
  test.skipIf(unavailable.get(kind.name))("flytekit uploads, reads and writes at the locations that admin returns", async () => {
    const store = await startStore(kind);
    onTestFinished(() => store.stop());
    const { uri: place, config } = store;
    const admin = await startAdmin(() => ({ storage: { container: place, rawOutputPrefix: `${place}/data`, ...config } }));
    onTestFinished(() => admin.stop());
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-flytekit-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const words = ["-W", "ignore", "-c", SCRIPT, `127.0.0.1:${admin.api}`, place, folder];
    const { stdout } = await promisify(execFile)(cachedPython(), words, { cwd: folder, env: { ...process.env, ...store.env } });
    const uri = stdout.trim().split("\n").at(-1) ?? "";
    expect(uri).toBe(`${place}/flytesnacks/development/root/bundle.bin`);
    const blobs = createBlobStore(config);
    onTestFinished(() => blobs.close());
    for (const each of [uri, `${place}/data/raw output`])
      expect(Buffer.from((await blobs.get(each)) ?? []).toString()).toBe("a code bundle");
  });
});
