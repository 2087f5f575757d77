import { cpSync } from "node:fs";
import { join } from "node:path";

export interface ImageFolders {
  /** Build context: the folder from which `COPY` copies files. */
  readonly context: string;
  /** Folder that stands for the image's working directory. */
  readonly workdir: string;
  /** Executes a `RUN` step in the working directory. */
  readonly run: (command: string) => Promise<void>;
}

/** Settings of the image that steps execute. */
export interface BuiltImage {
  readonly from: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
}

/**
 * Executes the steps of a Dockerfile with one stage outside of a Docker engine.
 *
 * @throws for an instruction that it does not know
 */
export async function executeDockerfile(text: string, { context, workdir, run }: ImageFolders): Promise<BuiltImage> {
  const settings = { from: "", user: "root", entrypoint: [] as readonly string[] };
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const [instruction = "", ...words] = line.split(" ");
    switch (instruction) {
      case "FROM":
        settings.from = words.join(" ");
        break;
      case "WORKDIR":
        break;
      case "COPY":
        copy(words);
        break;
      case "RUN":
        await run(words.join(" "));
        break;
      case "USER":
        settings.user = words.join(" ");
        break;
      case "ENTRYPOINT":
        settings.entrypoint = JSON.parse(words.join(" ")) as string[];
        break;
      default:
        throw new Error(`unknown instruction ${instruction}`);
    }
  }
  return settings;

  /** A destination that ends with `/` is a folder; another one is the name of the copy. */
  function copy(words: readonly string[]): void {
    const to = words.at(-1) ?? "";
    for (const source of words.slice(0, -1)) {
      const target = to.endsWith("/") ? join(workdir, to, source) : join(workdir, to);
      cpSync(join(context, source), target, { recursive: true });
    }
  }
}
