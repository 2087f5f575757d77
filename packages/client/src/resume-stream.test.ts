import { Code, RpcError } from "@flyte-ts/rpc";
import { expect, test } from "vitest";
import { resumeStream } from "./resume-stream.js";

/** Streams the numbers up to 5; each stream breaks after two. */
function breaking(code: Exclude<Code, 0>) {
  const cursors: string[] = [];
  async function* open(cursor: string) {
    cursors.push(cursor);
    let left = 2;
    for (let number = Number(cursor) + 1; number <= 5; number++) {
      if (left-- === 0) throw new RpcError(code, "broken");
      yield { cursor: String(number), ended: number === 5 };
    }
  }
  return { cursors, open };
}

async function all(stream: AsyncIterable<{ readonly cursor: string }>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { cursor } of stream) seen.push(cursor);
  return seen;
}

test("a stream resumes after the last message until its end", async () => {
  const { cursors, open } = breaking(Code.UNAVAILABLE);
  expect(await all(resumeStream(open))).toEqual(["1", "2", "3", "4", "5"]);
  expect(cursors).toEqual(["", "2", "4"]);
});

test("permanent errors and repeated failures are thrown", async () => {
  await expect(all(resumeStream(breaking(Code.PERMISSION_DENIED).open))).rejects.toMatchObject({ code: Code.PERMISSION_DENIED });
  let tries = 0;
  const failing = async function* (): AsyncGenerator<{ cursor: string; ended: boolean }> {
    if (++tries > 0) throw new RpcError(Code.UNAVAILABLE, "away");
    yield { cursor: "", ended: true };
  };
  await expect(all(resumeStream(failing, { maxFailures: 3 }))).rejects.toMatchObject({ code: Code.UNAVAILABLE });
  expect(tries).toBe(3);
});
