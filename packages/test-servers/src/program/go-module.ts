import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findOnPath } from "@flyte-ts/host";
import { ServerStartError } from "@flyte-ts/local-servers";

export interface GoModule {
  /** Meaning of the module in errors. */
  readonly title: string;
  /** Folder below `go/` whose go.mod pins the module. */
  readonly recipe: string;
  readonly module: string;
}

/**
 * Finds the folder of a Go module's files; fetches it once, and keeps it with Go's other modules.
 *
 * @throws ServerStartError when Go is missing or the module cannot be fetched.
 */
export async function findGoModule({ title, recipe, module }: GoModule): Promise<string> {
  if (findOnPath("go") === undefined) throw new ServerStartError(`${title}: Go, which downloads them, is not on the PATH`);
  try {
    const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], {
      cwd: fileURLToPath(new URL(`../../go/${recipe}`, import.meta.url)),
      env: { ...process.env, GOWORK: "off", GOFLAGS: "-mod=mod" },
    });
    return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
  } catch (error) {
    throw new ServerStartError(`${title}: ${(error as Error).message}`);
  }
}
