import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pause } from "../api/pause.js";
import { SignInError, type Tokens } from "./request-token.js";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Permissions of others than the owner. */
const OTHERS = 0o077;
/** Age at which a lock belongs to a process that has ended, ms. A refresh takes 30 s at most. */
const STALE_LOCK_MS = 60_000;
const LOCK_POLL_MS = 50;

type Entries = Readonly<Record<string, Tokens>>;

/** Returns the file of tokens: FLYTE_TS_TOKEN_CACHE, else ~/.flyte/flyte-ts-tokens.json. */
export function tokenFile(environment: Readonly<Record<string, string | undefined>>): string {
  return environment["FLYTE_TS_TOKEN_CACHE"] || join(homedir(), ".flyte", "flyte-ts-tokens.json");
}

/**
 * Tokens of people, by the address of the API, in a file that its owner alone can read. A lock
 * keeps processes from using one refresh token twice.
 */
export class TokenCache {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns the tokens for an API. @throws SignInError when others may read the file */
  async read(origin: string): Promise<Tokens | undefined> {
    return (await this.#entries())[origin];
  }

  /**
   * Replaces the tokens for an API by what `change` makes of them, while no other process changes
   * them. Undefined removes them.
   */
  async change(origin: string, change: (tokens: Tokens | undefined) => Promise<Tokens | undefined>): Promise<Tokens | undefined> {
    await mkdir(dirname(this.#file), { recursive: true, mode: FOLDER_MODE });
    const unlock = await this.#lock();
    try {
      const { [origin]: known, ...others } = await this.#entries();
      const changed = await change(known);
      if (changed !== known) await this.#write(changed === undefined ? others : { ...others, [origin]: changed });
      return changed;
    } finally {
      await unlock();
    }
  }

  async #entries(): Promise<Entries> {
    try {
      const { mode } = await stat(this.#file);
      if (process.platform !== "win32" && (mode & OTHERS) !== 0)
        throw new SignInError("unsafe_file", `${this.#file} holds tokens and others may read it: chmod 600 it, or remove it`);
      return JSON.parse(await readFile(this.#file, "utf8")) as Entries;
    } catch (error) {
      // A file that is no JSON is as good as none: the next sign-in replaces it.
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  }

  async #write(entries: Entries): Promise<void> {
    const staged = `${this.#file}.${process.pid}`;
    await writeFile(staged, `${JSON.stringify(entries, undefined, 2)}\n`, { mode: FILE_MODE });
    await chmod(staged, FILE_MODE);
    await rename(staged, this.#file);
  }

  async #lock(): Promise<() => Promise<void>> {
    const lock = `${this.#file}.lock`;
    for (;;) {
      try {
        const held = await open(lock, "wx", FILE_MODE);
        await held.close();
        return () => rm(lock, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const age = await stat(lock).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > STALE_LOCK_MS) await rm(lock, { force: true });
      else await pause(LOCK_POLL_MS);
    }
  }
}
