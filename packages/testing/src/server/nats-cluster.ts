import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@flyte-ts/host";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { type SilentLink, startSilentLink } from "../proxy/silent-link.js";
import { testWatchdog } from "./test-watchdog.js";

/** One server of a JetStream cluster. */
export interface NatsMember {
  /** Name by which the cluster reports its leaders. */
  readonly name: string;
  readonly url: string;
  kill(): Promise<void>;
  /** Deletes the data of a killed server. */
  loseDisk(): void;
  /** Starts a killed server again, with the same port. */
  restart(): Promise<void>;
  /** Drops all packets between this server and the others, or lets them pass again. */
  setParted(parted: boolean): void;
}

/** JetStream servers that replicate streams among themselves, on free ports of the loopback. */
export interface NatsCluster {
  /** Addresses of all servers, separated by commas. */
  readonly url: string;
  readonly members: readonly NatsMember[];
  stop(): Promise<void>;
}

/**
 * Starts a JetStream cluster. Each pair of servers is joined by links of its own, so that a server
 * can be parted from the others while its clients still reach it.
 */
export async function natsClusterFixture(size = 3): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-nats-cluster-"));
  const indexes = Array.from({ length: size }, (_, index) => index);
  const routePorts = await Promise.all(indexes.map(() => freePort()));
  const links = new Map<string, SilentLink>();
  for (const from of indexes) {
    for (const to of indexes) if (from !== to) links.set(`${from} ${to}`, await startSilentLink(routePorts[to] ?? 0));
  }
  const linkPorts = (from: number) => indexes.flatMap((to) => links.get(`${from} ${to}`)?.port ?? []);
  const start = (index: number, port?: number): Promise<LocalServer> => {
    const config = join(folder, `n${index}.conf`);
    writeFileSync(config, clusterConfig(routePorts[index] ?? 0, linkPorts(index)));
    const args = ["-c", config, "--name", `n${index}`];
    return startNats({ dataDir: join(folder, `n${index}`), args, watchdog: testWatchdog(), ...(port === undefined ? {} : { port }) });
  };
  const servers = await Promise.all(indexes.map((index) => start(index)));
  const members = servers.map(({ url, port }, index) => ({
    name: `n${index}`,
    url,
    kill: async () => servers[index]?.kill(),
    loseDisk: () => rmSync(join(folder, `n${index}`), { recursive: true, force: true }),
    restart: async () => {
      servers[index] = await start(index, port);
    },
    setParted: (parted: boolean) => {
      for (const [pair, link] of links) if (pair.split(" ").includes(String(index))) link.setSilent(parted);
    },
  }));
  return {
    url: servers.map(({ url }) => url).join(","),
    members,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all([...links.values()].map((link) => link.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The address that servers tell each other leads nowhere: else they would also connect directly.
 */
function clusterConfig(routePort: number, linkPorts: readonly number[]): string {
  const routes = linkPorts.map((port) => `nats://127.0.0.1:${port}`).join(", ");
  return `cluster { name: test, listen: "127.0.0.1:${routePort}", advertise: "127.0.0.1:1", routes: [${routes}] }\n`;
}
