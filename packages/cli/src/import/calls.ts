import { setTimeout as sleep } from "node:timers/promises";
import { Code, RpcError } from "@flyte-ts/client";

/** Of a list; large enough to be quick, small enough for templates of any size to fit into one answer. */
const PAGE = 100;
const PATIENCE_MS = 60_000;

/** Repeats a call while the other side cannot be reached, with growing pauses, for a minute. All calls of an import may be repeated. */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = 200; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      return await call();
    } catch (error) {
      const passing =
        error instanceof RpcError && [Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED].some((code) => code === error.code);
      if (!passing || Date.now() > deadline) throw error;
      await sleep(pause);
    }
  }
}

/** All rows of a list, page by page. */
export async function* allOf<Answer extends { readonly token: string }, Row>(
  ask: (page: { readonly limit: number; readonly token: string }) => Promise<Answer>,
  rowsOf: (answer: Answer) => readonly Row[],
): AsyncGenerator<Row> {
  let token = "";
  do {
    const asked = token;
    const answer = await patiently(() => ask({ limit: PAGE, token: asked }));
    yield* rowsOf(answer);
    token = answer.token;
  } while (token !== "");
}

/** Undefined for what is not there. */
export async function found<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await patiently(call);
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.NOT_FOUND) return undefined;
    throw error;
  }
}

/** Works on all items, so many at once. */
export async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const next = items.values();
  const worker = async () => {
    for (const item of next) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Why a call was refused for good; anything else that went wrong is thrown: an import that cannot go on ends, and may be begun again. */
export function refusalOf(error: unknown): string {
  if (error instanceof RpcError && error.code !== Code.UNAVAILABLE && error.code !== Code.UNAUTHENTICATED) return error.toString();
  throw error;
}

export const isCode = (error: unknown, code: Code): boolean => error instanceof RpcError && error.code === code;
