import { createLogger, type Logger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { ShardAssignment } from "./shard-assignment.js";

const done = () => Promise.resolve();

/** A controller and an event consumer whose first `failures` subscriptions fail. */
function assignmentWith(failures: number, logger: Logger = createLogger({ service: "test", level: "silent" })) {
  const shards = new Set<number>();
  const started: number[] = [];
  const subscribed: number[][] = [];
  let left = failures;
  const assignment = new ShardAssignment({
    bus: { ensureStream: done, removeConsumer: done },
    logger,
    controller: {
      shards,
      openShard: (shard) => {
        shards.add(shard);
        return Promise.resolve({ start: () => void started.push(shard) });
      },
      closeShard: (shard) => {
        shards.delete(shard);
        return done();
      },
    },
    events: {
      setShards: (held) => {
        if (left-- > 0) return Promise.reject(new Error("refused"));
        subscribed.push([...held]);
        return done();
      },
    },
    retryMs: 1,
  });
  return { assignment, started, subscribed };
}

test("shards whose subscription fails are started once a later attempt succeeds", async () => {
  const { assignment, started, subscribed } = assignmentWith(2);
  assignment.onGained(3);
  assignment.onGained(4);
  await expect.poll(() => started).toEqual([3, 4]);
  expect(subscribed).toEqual([[3, 4]]);
  await assignment.close();
  expect(subscribed).toEqual([[3, 4], []]);
});

test("a shard is started once, also when others are gained later", async () => {
  const { assignment, started } = assignmentWith(0);
  assignment.onGained(3);
  await expect.poll(() => started).toEqual([3]);
  assignment.onGained(4);
  await expect.poll(() => started).toEqual([3, 4]);
  await assignment.close();
});

test("shards that come back after a lapse of the membership are not logged as gained", async () => {
  const logged: object[] = [];
  const logger = { info: (fields: object) => void logged.push(fields) } as unknown as Logger;
  const { assignment, started } = assignmentWith(0, logger);
  assignment.onGained(3);
  await expect.poll(() => started).toEqual([3]);
  await assignment.onLost(3);
  assignment.onGained(3, true);
  assignment.onGained(4);
  await expect.poll(() => started).toEqual([3, 3, 4]);
  await assignment.close();
  expect(logged).toEqual([
    { gained: [3], shards: 1 },
    { gained: [4], shards: 2 },
  ]);
});
