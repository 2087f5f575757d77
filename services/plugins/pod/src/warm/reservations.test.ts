import { ManualTime } from "@flyte-ts/async/manual-time";
import { PODS } from "@flyte-ts/kubernetes";
import { buildPod, type Pod } from "@flyte-ts/pod-task";
import { attemptKey } from "@flyte-ts/task-plugin";
import { beforeEach, expect, it } from "vitest";
import { config, logger } from "../simulation/pod-world.js";
import { SimulatedCluster } from "../simulation/simulated-cluster.js";
import { warmRequest } from "../simulation/warm-world.js";
import { isReservation, Reservations } from "./reservations.js";

const SETTLES_WITHIN_MS = 40_000;
const request = warmRequest();
const pod = buildPod(request, { config: config.pods });

let clock: ManualTime;
let cluster: SimulatedCluster;
beforeEach(() => {
  clock = new ManualTime();
  cluster = new SimulatedCluster(() => clock);
});
const startProcess = (pool: string) => {
  const reservations = new Reservations({ client: cluster, clock, logger, pool, settlesWithinMs: SETTLES_WITHIN_MS });
  reservations.start();
  return reservations;
};
const named = (): Pod | undefined => cluster.pods.get(attemptKey(request));
const createOfEarlierProcess = () => cluster.create<Pod>(PODS, pod);

it("keeps creations of earlier processes away until they are settled", async () => {
  expect(await startProcess("one").reserve(request, pod)).toBe(true);
  await clock.advance(SETTLES_WITHIN_MS - 1);
  await expect(createOfEarlierProcess()).rejects.toThrow("already exists");
  expect(cluster.startCount(attemptKey(request))).toBe(0);
  await clock.advance(1);
  expect(named()).toBeUndefined();
});

it("is refused when an earlier process has created the pod, or the API server says so", async () => {
  const reservations = startProcess("one");
  await createOfEarlierProcess();
  expect(await reservations.reserve(request, pod)).toBe(false);
});

it("gives its place to the pod of an attempt that starts cold", async () => {
  const reservations = startProcess("one");
  await reservations.reserve(request, pod);
  await reservations.creator.create<Pod>(PODS, pod);
  expect(isReservation(named() as Pod)).toBe(false);
});

it("outlives a late deletion by an earlier process", async () => {
  await startProcess("one").reserve(request, pod);
  const known = named()?.metadata;
  expect(await startProcess("two").reserve(request, pod)).toBe(true);
  const { namespace, name, uid, resourceVersion } = known as Pod["metadata"];
  await expect(cluster.delete(PODS, { namespace, name, uid, resourceVersion })).rejects.toThrow("modified");
  expect(isReservation(named() as Pod)).toBe(true);
});

it("runs nothing and names no attempt", async () => {
  await startProcess("one").reserve(request, pod);
  expect(named()?.spec).toMatchObject({ schedulerName: "flyte.org/none" });
  expect(named()?.metadata.labels).toEqual({ "flyte.org/warm": "reserved" });
});
