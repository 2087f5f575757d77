import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { processesOf } from "../stack/stack-fixture.js";

/** A TCP port that a process of a stack accepts connections on. */
export interface Listener {
  /** Program or configuration file of the process, as its command line names it. */
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** Address that it is bound to, as /proc/net/tcp writes it: hexadecimal, each word in the machine's byte order. */
  readonly address: string;
}

/** State LISTEN in /proc/net/tcp (include/net/tcp_states.h). */
const LISTEN = "0A";

/** Finds every listener of the processes that belong to a stack's folder. */
export function listenersOf(folder: string): Listener[] {
  const bySocket = new Map(["tcp", "tcp6"].flatMap((table) => listeningSockets(table)));
  return processesOf(folder).flatMap(({ pid, command }) =>
    socketsOf(pid).flatMap((inode) => {
      const found = bySocket.get(inode);
      return found === undefined ? [] : [{ name: nameOf(command, folder), pid, ...found }];
    }),
  );
}

function listeningSockets(table: string): [string, { readonly port: number; readonly address: string }][] {
  const lines = readFileSync(`/proc/net/${table}`, "utf8").trim().split("\n").slice(1);
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = "0"] = local.split(":");
    return state === LISTEN ? [[inode, { address, port: Number.parseInt(port, 16) }]] : [];
  });
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    // The process or the descriptor is gone.
    return [];
  }
}

function nameOf(command: string, folder: string): string {
  const config = /--config \S*\/([a-z0-9-]+)\.yaml/.exec(command)?.[1];
  return config ?? command.replaceAll(folder, "").slice(0, 60);
}
