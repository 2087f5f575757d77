import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { workOnce } from "../../platform/work-queue/work-once.fixture.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { createDeletionHandler } from "./deletion/deletion-handler.js";
import { type Member, deletionBlocker } from "./tree/deletion-blocker.js";
import { KeptExecutions } from "./kept-executions.fixture.js";
import { markDeletions, planDeletions } from "./mark.js";
import { sweep } from "./sweep.js";

let database: AdminDatabase;
let kept: KeptExecutions;
beforeAll(async () => {
  database = await adminDatabase();
  kept = new KeptExecutions(database.db, { keepDays: 1 });
});
afterAll(async () => {
  kept.close();
  await database.stop();
});

/** An execution of a random forest: parents and originals are earlier ones, as distances. */
const drawn = fc.record({
  parent: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 3 }),
  original: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 1 }),
  phase: fc.constantFrom("SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT", "SUCCEEDED", "RUNNING", "QUEUED", "ABORTING"),
  settled: fc.constantFrom(true, true, true, false),
  old: fc.boolean(),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer One> ? One : never;
const samples = fc.array(drawn, { minLength: 1, maxLength: 14 });

const ACTIVE = new Set(["RUNNING", "QUEUED", "ABORTING"]);
const back = (index: number, count: number | undefined) => (count === undefined || index - 1 - count < 0 ? undefined : index - 1 - count);

interface Placed extends Drawn {
  readonly id: bigint;
  readonly parentId: bigint | undefined;
  readonly originalId: bigint | undefined;
}

/**
 * Independent model of the executions that must remain: active ones, their ancestors and
 * descendants, and the originals of their recoveries.
 */
function needed(executions: readonly Placed[]): ReadonlySet<bigint> {
  const stay = new Set(executions.filter(({ phase }) => ACTIVE.has(phase)).map(({ id }) => id));
  for (let before = -1; before !== stay.size; ) {
    before = stay.size;
    for (const { id, parentId, originalId } of executions) {
      if (parentId !== undefined && (stay.has(id) || stay.has(parentId))) stay.add(id).add(parentId);
      if (originalId !== undefined && stay.has(id)) stay.add(originalId);
    }
  }
  return stay;
}

async function place(drawns: readonly Drawn[]): Promise<readonly Placed[]> {
  await kept.clear();
  const placed: Placed[] = [];
  for (const [index, one] of drawns.entries()) {
    const parentId = placed[back(index, one.parent) ?? -1]?.id;
    const originalId = placed[back(index, one.original) ?? -1]?.id;
    const { phase, settled, old } = one;
    const id = await kept.make(
      { name: `e${index}`, phase, settled, age: old ? 200_000 : 10, parent: parentId, recovers: originalId },
      false,
    );
    placed.push({ ...one, id, parentId, originalId });
  }
  return placed;
}

/** Runs three replicas until none finds work. */
async function finish(): Promise<void> {
  for (let done = 0; done === 0; ) {
    kept.now = new Date(kept.now.getTime() + 61_000);
    const taken = await Promise.all([1, 2, 3].map(() => workOnce(createDeletionHandler(kept.deps()), 2)));
    done = Math.max(...taken) === 0 ? 1 : 0;
  }
}

test("neither a request nor a policy deletes an active execution or one that an active execution needs", async () => {
  await fc.assert(
    fc.asyncProperty(samples, fc.array(fc.nat({ max: 13 }), { maxLength: 8 }), fc.boolean(), async (drawns, asked, byPolicy) => {
      const executions = await place(drawns);
      const mark = { at: kept.now, beginsAt: kept.now, byPolicy: false, requestedBy: "" };
      if (byPolicy) await sweep(kept.deps());
      else {
        const roots = asked.flatMap((index) => executions[index]?.id ?? []);
        await markDeletions(kept.db, (await planDeletions(kept.db, roots)).deletions, mark);
      }
      // Starts executions concurrently with the mark: children or recoveries of a marked one, as if
      // their creator had not seen the mark.
      const { rows } = await kept.db.query<{ execution_id: bigint }>({ text: "SELECT execution_id FROM execution_deletions ORDER BY 1" });
      const late = asked.length % 2 === 0 ? rows[asked.length % Math.max(1, rows.length)]?.execution_id : undefined;
      const more: Placed[] = [];
      if (late !== undefined) {
        const id = await kept.make(
          {
            name: "late",
            phase: "RUNNING",
            parent: asked.length % 4 === 0 ? late : undefined,
            recovers: asked.length % 4 === 0 ? undefined : late,
          },
          false,
        );
        const follows = asked.length % 4 === 0 ? { parentId: late, originalId: undefined } : { parentId: undefined, originalId: late };
        more.push({ parent: undefined, original: undefined, phase: "RUNNING", settled: true, old: false, id, ...follows });
      }
      await finish();
      const there = new Set(await kept.rows());
      expect([...needed([...executions, ...more])].filter((id) => !there.has(id))).toEqual([]);
      expect(await kept.orphans()).toBe(0);
      // Single terminal executions that were requested, or that the policy covers, are deleted.
      const lone = executions.filter(
        ({ id, phase, settled, parentId, old }, index) =>
          !ACTIVE.has(phase) &&
          settled &&
          parentId === undefined &&
          (byPolicy ? old : asked.includes(index)) &&
          late !== id &&
          ![...executions, ...more].some((other) => other.parentId === id || other.originalId === id),
      );
      for (const { id } of lone) expect(there.has(id)).toBe(false);
    }),
    { numRuns: Number(process.env.RETENTION_RUNS ?? 40) },
  );
});

test("a deletable tree contains no active execution, for any tree", () => {
  const member = fc.record({
    id: fc.bigInt({ min: 1n, max: 9n }),
    ended: fc.boolean(),
    allTerminal: fc.boolean(),
    hasPendingWork: fc.boolean(),
    parent: fc.option(fc.bigInt({ min: 1n, max: 12n }), { nil: undefined }),
    recoveries: fc.array(fc.bigInt({ min: 1n, max: 12n }), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(member, { minLength: 1, selector: ({ id }) => id }), (drawns) => {
      const members = drawns.map(
        ({ id, parent, recoveries, ...rest }): Member => ({
          ...rest,
          id,
          text: String(id),
          parent: parent === undefined ? undefined : { id: parent, text: "" },
          dependents: recoveries.map((recovery) => ({ id: recovery, text: "" })),
        }),
      );
      const root = members[0]?.id ?? 0n;
      if (deletionBlocker(root, members) !== undefined) return;
      const own = new Set(members.map(({ id }) => id));
      expect(members.every(({ ended, allTerminal, hasPendingWork }) => ended && allTerminal && !hasPendingWork)).toBe(true);
      expect(members.flatMap(({ dependents }) => dependents).every(({ id }) => own.has(id))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
