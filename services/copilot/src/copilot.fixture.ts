import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { type ContainerError, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { parseCommand } from "./command-line.js";
import { type CopilotDependencies, runCommand } from "./run-command.js";

/** A blob store and a folder of files, both in one local folder. */
export class CopilotFixture {
  readonly root = mkdtempSync(join(tmpdir(), "copilot-"));
  readonly store: BlobStore = createBlobStore({});
  readonly remote = `file://${this.root}/remote`;
  readonly outputPrefix = `${this.remote}/data/0`;
  readonly logged: string[] = [];
  #time = 0;

  parts(over: Partial<CopilotDependencies> = {}): CopilotDependencies {
    return {
      store: this.store,
      terminated: Promise.resolve(),
      now: () => this.#time,
      sleep: async (ms) => {
        this.#time += ms;
        // Yields to the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      },
      log: (text) => void this.logged.push(text),
      ...over,
    };
  }

  run(words: readonly string[], over: Partial<CopilotDependencies> = {}): Promise<number> {
    return runCommand(parseCommand(words), this.parts(over));
  }

  async error(): Promise<ContainerError | undefined> {
    const bytes = await this.store.get(`${this.outputPrefix}/error.pb`);
    return bytes && fromBinary(ErrorDocumentSchema, bytes).error;
  }
}
